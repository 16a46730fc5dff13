// The profiles of a workbench: which of them is shown, and how two of them differ.

import type { ProfileRowView, ProfileView, State } from "../protocol";

/** Lists the profiles of a variant, the newest first. */
export function profilesOf({ profiles }: Pick<State, "profiles">, variant: string): readonly ProfileView[] {
  return profiles.filter((one) => one.variant === variant).reverse();
}

/** Returns the chosen profile of a variant where it is one of its own, else its newest; undefined without any. */
export function shownProfile(
  state: Pick<State, "profiles">,
  variant: string,
  chosen: string,
): ProfileView | undefined {
  const own = profilesOf(state, variant);
  return own.find(({ id }) => id === chosen) ?? own[0];
}

export type Way = "scope" | "kernel" | "statement";

export const rowsBy = (profile: ProfileView, way: Way): readonly ProfileRowView[] =>
  ({ scope: profile.scopes, kernel: profile.kernels, statement: profile.statements })[way];

/** A row beside that of the same name in another profile; one of them may be missing. */
export interface Pair {
  readonly name: string;
  readonly row: ProfileRowView | null;
  readonly other: ProfileRowView | null;
}

/** Pairs the rows of two profiles by name: first those of the one, then what only the other has. */
export function paired(rows: readonly ProfileRowView[], others: readonly ProfileRowView[]): readonly Pair[] {
  const known = new Map(others.map((other) => [other.name, other]));
  const own = new Set(rows.map(({ name }) => name));
  return [
    ...rows.map((row): Pair => ({ name: row.name, row, other: known.get(row.name) ?? null })),
    ...others.filter(({ name }) => !own.has(name)).map((other): Pair => ({ name: other.name, row: null, other })),
  ];
}

/** Returns the share of the statements' seconds that each statement took. */
export function sharesIn({ statements }: ProfileView): Readonly<Record<string, number>> {
  const of = statements.filter((row) => row.statements.length > 0);
  const whole = of.reduce((sum, { seconds }) => sum + seconds, 0);
  return Object.fromEntries(of.map(({ name, seconds }) => [name, whole ? seconds / whole : 0]));
}
