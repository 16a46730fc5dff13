// A link to what is shown: program, variant, pane and selection as short text. Who opens one takes its steps anew, each
// checked; nothing of it is run, and of a selection only names that there are count.

import type { VariantView } from "../protocol";
import type { Level, Path, Sizes } from "./selection";
import type { Values } from "./store";

/** The form of links. Others are refused: raised where the same text would mean something else. */
const FORM = 1;

/** The name under which an address has a link, in its query or behind `#`. */
export const NAME = "workbench";

/** The most characters of a link, and of what it holds. */
const [LONGEST, MOST] = [16_000, 1_000_000];

const LEVELS: readonly Level[] = ["equations", "order", "loops", "python", "c", "cuda"];

export interface Link {
  readonly form: number;
  /** The release that made it. */
  readonly release: string;
  readonly program: string;
  /** The keys of the program as written and of the variant. */
  readonly root: string;
  readonly variant: string;
  /** The variant's name where it was made. */
  readonly name: string;
  /** The steps from the program as written, as JSON. */
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly pane: string;
  readonly statements: readonly string[];
  readonly scope: Path | null;
  readonly level: Level;
  readonly sizes: Sizes;
}

/** Returns a link to what is shown. */
export function linkTo({ state, selection, release }: Values): Link {
  if (!state) throw new Error("There is no program yet.");
  const byKey = new Map(state.variants.map((one) => [one.key, one]));
  const way: VariantView[] = [];
  for (let one = byKey.get(state.current); one; one = one.parent === null ? undefined : byKey.get(one.parent)) way.unshift(one);
  const { pane, statements, scope, level, sizes } = selection;
  return {
    form: FORM,
    release,
    program: state.name,
    root: state.root,
    variant: state.current,
    name: way.at(-1)?.name ?? "",
    steps: way.flatMap(({ step }) => (step ? [step.json as Readonly<Record<string, unknown>>] : [])),
    pane,
    statements,
    scope,
    level,
    sizes,
  };
}

/** Writes a link with letters that need no escape in an address. */
export async function written(link: Link): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(link)), new CompressionStream("gzip"), Infinity);
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Reads a link; ends in an Error with a sentence where it is none, or of another form. */
export async function read(text: string): Promise<Link> {
  const found = await unpacked(text);
  if (typeof found !== "object" || found === null || !("form" in found)) throw new Error(NO_LINK);
  const { form, release } = found as Record<string, unknown>;
  if (form !== FORM) {
    const by = typeof release === "string" ? release.slice(0, 40) : "another release";
    throw new Error(`The link was made by another release of the workbench (${by}), whose links this one cannot read.`);
  }
  if (!isLink(found)) throw new Error(NO_LINK);
  return found;
}

/** Returns the link in an address; "" where it has none. */
export function linkIn({ search, hash }: { search: string; hash: string }): string {
  return new URLSearchParams(search).get(NAME) ?? new URLSearchParams(hash.slice(1)).get(NAME) ?? "";
}

const NO_LINK = "This link is not one of the workbench, or not all of it.";

async function unpacked(text: string): Promise<unknown> {
  if (text.length > LONGEST || !/^[\w-]+$/.test(text)) throw new Error(NO_LINK);
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("gzip"), MOST)));
  } catch {
    throw new Error(NO_LINK);
  }
}

/** Sends bytes through a stream; more than `most` of them are an Error. */
async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream, most: number): Promise<Uint8Array> {
  const source = new Response(bytes).body as ReadableStream<Uint8Array>;
  const reader = source.pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(NO_LINK);
    }
    chunks.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function isLink(found: object): found is Link {
  const { release, program, root, variant, name, steps, pane, statements, scope, level, sizes } = found as Record<
    keyof Link,
    unknown
  >;
  return (
    [release, program, root, variant, name, pane].every((one) => typeof one === "string") &&
    Array.isArray(steps) && steps.every((one) => typeof one === "object" && one !== null && !Array.isArray(one)) &&
    areTexts(statements) &&
    (scope === null || areTexts(scope)) &&
    LEVELS.some((one) => one === level) &&
    typeof sizes === "object" && sizes !== null && Object.values(sizes).every((one) => Number.isSafeInteger(one) && Number(one) > 0)
  );
}

const areTexts = (found: unknown): boolean => Array.isArray(found) && found.every((one) => typeof one === "string");
