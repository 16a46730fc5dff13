// Compressed capsules: a large one is kept so, since a notebook is read and saved as a whole.

import type { Capsule, Packed } from "../../protocol";

/** Unpacks the result of Python's `capsule.packed`; anything else stays as it is. */
export async function unpacked(saved: unknown): Promise<unknown> {
  if (!isPacked(saved)) return saved;
  const bytes = Uint8Array.from(atob(saved.gzip), (character) => character.charCodeAt(0));
  const stream = new Response(bytes).body?.pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Returns the name of the workbench that was saved; null where that cannot be told. */
export function workbenchOf(saved: unknown): string | null {
  if (isPacked(saved)) return saved.workbench;
  return (saved as Partial<Capsule> | null)?.state?.workbench ?? null;
}

function isPacked(saved: unknown): saved is Packed {
  return typeof saved === "object" && saved !== null && "gzip" in saved && typeof saved.gzip === "string";
}
