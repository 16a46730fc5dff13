// What a view is given: the current snapshot as JSON text, and word when it changes.

import { type Snapshot, VERSION } from "./snapshot";

export interface Model {
  /** The snapshot as JSON text; empty while there is none. */
  snapshot(): string;
  /** Calls back after every change; the result ends that. */
  onChange(changed: () => void): () => void;
}

export type Parsed =
  | { readonly kind: "snapshot"; readonly snapshot: Snapshot }
  | { readonly kind: "problem"; readonly message: string };

export function parse(text: string): Parsed {
  if (!text) return { kind: "problem", message: "No program yet." };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "problem", message: "This picture is damaged: its data is not JSON." };
  }
  const version =
    typeof value === "object" && value !== null && "version" in value ? value.version : undefined;
  if (version !== VERSION) {
    return {
      kind: "problem",
      message:
        `This picture was saved by another release (format ${String(version)}; this one reads ` +
        `${VERSION}). Run the cell again to draw it.`,
    };
  }
  return { kind: "snapshot", snapshot: value as Snapshot };
}
