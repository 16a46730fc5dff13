// Chips on the lower edge of a box: the loops around its statement, and what is kept of the array that it writes. What
// the last step changed is in colour.

import { DOT, type Node, type Snapshot } from "../../../protocol";
import { type Changes, loopsOf } from "../../diff";
import { rounded } from "./rounded";

export interface Chip {
  readonly text: string;
  /** The text where there is less room: without what was before. */
  readonly short?: string;
  readonly kind: "loop" | "axis" | "block" | "kept";
  readonly changed: boolean;
}

export function chips(snapshot: Snapshot, node: Node, changes: Changes | null): readonly Chip[] {
  const before = changes?.before.get(node.id);
  const known = new Set(before?.loops.map((loop) => loop.mark));
  const isNew = (mark: string): boolean => before !== undefined && !known.has(mark);
  return [
    ...loopsOf(snapshot, node).map(({ dim, mark }): Chip => {
      const was = isNew(mark) ? before?.loops.find((loop) => loop.dim === dim)?.mark : undefined;
      const kind = mark.startsWith("[") ? "axis" : mark.includes("▮") ? "block" : "loop";
      return was === undefined
        ? { text: mark, kind, changed: isNew(mark) }
        : { text: `${was} → ${mark}`, short: mark, kind, changed: true };
    }),
    ...node.kept.map((text): Chip => ({
      text, kind: "kept", changed: before !== undefined && !before.kept.includes(text),
    })),
  ];
}

/** Returns chips that are no wider than a box together: in short, and of those that have no room at the end their
 * number. */
export function fitted(chips: readonly Chip[], room: number, size: number): readonly Chip[] {
  if (total(chips, size) <= room) return chips;
  const short = chips.map((chip) => ({ ...chip, text: chip.short ?? chip.text }));
  for (let shown = short.length; shown > 0; shown -= 1) {
    const left = short.slice(shown);
    const more: Chip = { text: `+${left.length}`, kind: "kept", changed: left.some(({ changed }) => changed) };
    const row = left.length ? [...short.slice(0, shown), more] : short;
    if (total(row, size) <= room) return row;
  }
  return [{ text: `+${short.length}`, kind: "kept", changed: short.some(({ changed }) => changed) }];
}

/** In em of the letters, as boxes are measured for them: a character, both ends of a chip, and between two chips. */
const [LETTER, ENDS, GAP] = [0.605, 0.8, 0.35];

const wide = ({ text }: Chip, size: number): number => ([...text].length * LETTER + ENDS) * size;

const total = (chips: readonly Chip[], size: number): number =>
  chips.reduce((sum, chip) => sum + wide(chip, size) + GAP * size, -GAP * size);

/** Chips in a row, in the middle of the lower edge of a box of this width. */
export function Chips(props: {
  readonly chips: readonly Chip[];
  readonly width: number;
  readonly edge: number;
  readonly size: number;
}): JSX.Element {
  const { width: room, edge, size } = props;
  const row = fitted(props.chips, room + 2 * DOT.chipBeyond, size);
  const height = size + 4;
  let left = (room - total(row, size)) / 2;
  return (
    <g className="wbk-chips" aria-hidden="true">
      {row.map((chip, at) => {
        const { text, kind, changed } = chip;
        const [start, width] = [left, wide(chip, size)];
        left += width + GAP * size;
        return (
          <g key={at} className={`wbk-dim-chip wbk-chip-${kind}${changed ? " wbk-chip-changed" : ""}`}>
            <path d={rounded(start, edge - height / 2, width, height, height / 2)} />
            <text x={start + width / 2} y={edge + size * 0.34} fontSize={size} textAnchor="middle">
              {text}
            </text>
          </g>
        );
      })}
    </g>
  );
}
