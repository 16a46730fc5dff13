// The numbers that colour boxes: numbers of statements, summed over the statements of a closed scope.

import { amountText, bytesText, percent, secondsText } from "../../model/numbers";
import type { Overlay } from "../../model/selection";
import type { CostView, ProfileView, ShareView } from "../../protocol";
import type { Scene } from "../layout/scene";
import { type Colour, css, mixed, type Theme } from "./theme";

export const OVERLAYS: readonly (readonly [Overlay, string])[] = [
  ["kind", "kind"],
  ["seconds", "predicted time"],
  ["profile", "measured time"],
  ["bytes", "bytes moved"],
  ["operations", "operations"],
  ["measured", "measured / predicted"],
];

type Amount = Exclude<Overlay, "kind" | "measured">;

const AMOUNTS: Readonly<Record<Amount, (number: number) => string>> = {
  seconds: secondsText,
  profile: secondsText,
  bytes: bytesText,
  operations: (number) => amountText(number, "op"),
};

/** The samples of a run: the share taken in each statement. */
export type Shares = Readonly<Record<string, number>>;

export interface Colouring {
  /** Boxes have the colours of their kinds. */
  readonly byKind: boolean;
  /** The strength of a box's colour, -1 to 1; a box without a number has none. */
  readonly levels: ReadonlyMap<string, number>;
  /** The number of each box, in words. */
  readonly words: ReadonlyMap<string, string>;
  /** The scale's ends and middle, in words; empty where nothing is coloured. */
  readonly ticks: readonly string[];
}

const BY_KIND: Colouring = { byKind: true, levels: new Map(), words: new Map(), ticks: [] };
const NOTHING: Colouring = { byKind: false, levels: new Map(), words: new Map(), ticks: [] };

/** A colour for every factor of ten down to a thousandth of the largest. */
const DECADES = 3;
/** Ratios up to this many times, or one over it, are told apart. */
const RATIO = 4;

export function colouring(
  overlay: Overlay,
  scene: Scene | null,
  cost: CostView | null,
  run: Shares | null,
  profile: ProfileView | null,
): Colouring {
  if (overlay === "kind") return BY_KIND;
  if (!scene) return NOTHING;
  if (overlay === "profile") {
    const rows = profile?.statements ?? [];
    return amounts(overlay, scene, new Map(rows.map(({ name, seconds }) => [name, seconds])));
  }
  if (!cost) return NOTHING;
  if (overlay === "measured") return run ? ratios(scene, cost, run) : NOTHING;
  return amounts(overlay, scene, new Map(cost.shares.map((share) => [share.statement, share[overlay]])));
}

function amounts(amount: Amount, scene: Scene, numbers: ReadonlyMap<string, number>): Colouring {
  const sums = summed(scene, numbers);
  const most = Math.max(0, ...sums.values());
  if (!most) return NOTHING;
  const total = [...sums.values()].reduce((sum, one) => sum + one, 0);
  const levels = new Map<string, number>();
  const words = new Map<string, string>();
  for (const [name, sum] of sums) {
    if (sum > 0) levels.set(name, Math.max(0.04, 1 + Math.log10(sum / most) / DECADES));
    words.set(name, `${AMOUNTS[amount](sum)} · ${percent(sum / total)}`);
  }
  const ticks = [0, 1, 2, 3].map((decade) => AMOUNTS[amount](most / 10 ** decade));
  return { byKind: false, levels, words, ticks: ticks.reverse() };
}

/** Divides each share of a run's samples by the share of its predicted time. */
function ratios(scene: Scene, cost: CostView, run: Shares): Colouring {
  const whole = cost.shares.reduce((sum, { seconds }) => sum + seconds, 0);
  const predicted = summed(scene, new Map(cost.shares.map((one: ShareView) => [one.statement, one.seconds / whole])));
  const seen = summed(scene, new Map(Object.entries(run)));
  const levels = new Map<string, number>();
  const words = new Map<string, string>();
  for (const [name, share] of predicted) {
    const found = seen.get(name) ?? 0;
    words.set(name, `${percent(found)} measured, ${percent(share)} predicted`);
    if (Math.max(found, share) < 0.001) continue; // too little was seen of it
    const ratio = found > 0 && share > 0 ? Math.log(found / share) / Math.log(RATIO) : found > 0 ? 1 : -1;
    levels.set(name, Math.max(-1, Math.min(1, ratio)));
  }
  return { byKind: false, levels, words, ticks: [`1/${RATIO}`, "as predicted", `${RATIO} times`] };
}

/** Sums numbers of statements by the box they are drawn in. */
export function summed(scene: Scene, numbers: ReadonlyMap<string, number>): Map<string, number> {
  const found = new Map<string, number>();
  for (const [name, nodes] of scene.inside) {
    const known = nodes.filter((node) => numbers.has(node.id));
    if (known.length) found.set(name, known.reduce((sum, node) => sum + (numbers.get(node.id) ?? 0), 0));
  }
  return found;
}

/** Returns the ground of a box; none where it has its kind's. */
export function groundOf(colouring: Colouring, name: string, theme: Theme): string | undefined {
  return colouring.byKind ? undefined : fill(colouring.levels.get(name) ?? 0, theme);
}

/** Returns the colour of a level: the page's own at 0, never so full that the text is hard to read. */
export function fill(level: number, theme: Theme): string {
  const [end, share]: readonly [Colour, number] = [level < 0 ? theme.cool : theme.heat, Math.abs(level) * 0.72];
  return css(mixed(theme.back, end, share));
}
