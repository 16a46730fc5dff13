// A layout that never fails: by Graphviz, where that fails with straight arrows, then with more scopes closed, at last
// in plain rows.

import { key } from "../../model/scopes";
import type { Snapshot } from "../../protocol";
import { dot } from "./dot";
import type { Engine } from "./engine";
import { placeLabels } from "./labels";
import { chipSize, HANG, hang, letters, READABLE, type Rectangle } from "../window/geometry";
import type { Placed } from "./placed";
import { rows } from "./plain-rows";
import { contents, type Contents, type Layout, type Line, type Scene, scopeBox, scopeOf, statementBox } from "./scene";

/** Milliseconds for the requested picture, and for those in its place. */
export const PATIENCE = 20_000;
const SHORT = 4_000;

export interface Arranged {
  readonly scene: Scene;
  /** The reason why it is not the requested picture; empty where it is. */
  readonly remark: string;
}

/** Lays out `snapshot` with the scopes `closed`; if that fails with straight arrows too, with the first of `instead`
 * that works. */
export async function arrange(
  engine: Engine,
  snapshot: Snapshot,
  closed: ReadonlySet<string>,
  instead: readonly ReadonlySet<string>[],
  isWanted: () => boolean,
): Promise<Arranged | null> {
  const asked = contents(snapshot, closed);
  let reason = "";
  for (const attempt of [closed, ...instead, outermost(asked)]) {
    const shown = attempt === closed ? asked : contents(snapshot, attempt);
    if (reason && shown.inside.size >= asked.inside.size) continue;
    await pause(); // of a program of thousands, either half takes a while
    for (const text of new Set([dot(shown), dot(shown, true)])) {
      if (!isWanted()) return null;
      try {
        const places = await engine.place(text, reason ? SHORT : PATIENCE);
        if (!isWanted()) return null;
        const told = shown === asked ? "" : remark(asked, reason);
        return { scene: { ...shown, layout: named(places, shown) }, remark: told };
      } catch (problem) {
        reason ||= problem instanceof Error ? problem.message : String(problem);
      }
    }
    if (!isWanted()) return null;
  }
  const last = contents(snapshot, outermost(asked));
  return { scene: { ...last, layout: rows(last) }, remark: remark(asked, reason) };
}

const pause = (): Promise<void> => new Promise((done) => setTimeout(done));

function remark(asked: Contents, reason: string): string {
  if (!reason) return "";
  return `The picture of ${asked.inside.size} boxes could not be laid out (${reason}); a simpler one is shown.`;
}

function outermost({ scopes }: Contents): ReadonlySet<string> {
  return new Set(scopes.filter((path) => path.length === 1).map(key));
}

/** Gives the places the names that stay the same from picture to picture. */
function named(places: Placed, shown: Contents): Layout {
  const name = (short: string): string => {
    const position = Number(short.slice(1));
    return short.startsWith("s")
      ? scopeBox(shown.scopes[position] ?? [])
      : statementBox(shown.snapshot.nodes[position]?.id ?? "");
  };
  const renamed = (all: Placed["boxes"]): Map<string, Rectangle> =>
    new Map(all.map(([short, place]) => [name(short), place]));
  const boxes = renamed(places.boxes);
  const chipped = [...boxes].flatMap(([id, place]) => (hasChips(id, shown) ? [place] : []));
  const lines = places.lines.map(([short, line]): [string, Line] => [
    shown.arrows[Number(short.slice(1))]?.id ?? "",
    { ...line, label: line.label && below(line.label, chipped) },
  ]);
  return {
    width: places.width,
    height: places.height,
    boxes,
    grounds: renamed(places.grounds),
    lines: placeLabels(new Map(lines), shown.arrows, [...boxes.values(), ...chipped.map(chips)]),
  };
}

function hasChips(name: string, { inside }: Contents): boolean {
  const [node] = scopeOf(name) ? [] : (inside.get(name) ?? []);
  return node !== undefined && node.loops.length + node.kept.length > 0;
}

/** Returns the row below a box where its chips hang, as large as they become from far away. */
const chips = ({ left, top, width, height }: Rectangle): Rectangle => ({
  left,
  top: top + height,
  width,
  height: hang(chipSize(READABLE)),
});

/** Moves the middle of an arrow's text below the chips of a box, of which Graphviz knows nothing. */
function below([x, y]: readonly [number, number], boxes: readonly Rectangle[]): readonly [number, number] {
  const clear = HANG + 0.65 * letters(READABLE);
  const lower = boxes.flatMap(({ left, top, width, height }) => {
    const edge = top + height;
    return left <= x && x <= left + width && edge < y && y < edge + clear ? [edge + clear] : [];
  });
  return [x, Math.max(y, ...lower)];
}
