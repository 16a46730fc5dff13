// The colours of scopes, the same in every profile of a workbench.

import type { ProfileView } from "../../protocol";
import { series } from "../charts/series";

export type Colours = (scope: string) => string;

/** What is in no kernel and no statement is grey. */
export function coloursOf(profiles: readonly ProfileView[]): Colours {
  const rows = profiles.flatMap(({ scopes }) => scopes).filter(({ statements }) => statements.length > 0);
  const names = [...new Set(rows.map(({ name }) => name))].sort();
  return (scope) => (names.includes(scope) ? series(names.indexOf(scope)).colour : "var(--wbk-faint)");
}
