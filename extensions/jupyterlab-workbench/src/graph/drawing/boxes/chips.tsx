// Chips on the lower edge of a box: the loops around its statement, and what is kept of the array that it writes. What
// the last step changed is in colour.

import type { Node, Snapshot } from "../../../protocol";
import { type Changes, loopsOf } from "../../diff";
import { rounded } from "./rounded";

export interface Chip {
  readonly text: string;
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
      return { text: was === undefined ? mark : `${was} → ${mark}`, kind, changed: isNew(mark) };
    }),
    ...node.kept.map((text): Chip => ({
      text, kind: "kept", changed: before !== undefined && !before.kept.includes(text),
    })),
  ];
}

/** Chips in a row, in the middle of a box's lower edge. */
export function Chips(props: {
  readonly chips: readonly Chip[];
  readonly middle: number;
  readonly edge: number;
  readonly size: number;
}): JSX.Element {
  const { chips, middle, edge, size } = props;
  const widths = chips.map(({ text }) => text.length * size * 0.6 + 8);
  const whole = widths.reduce((sum, width) => sum + width + GAP, -GAP);
  const height = size + 4;
  let left = middle - whole / 2;
  return (
    <g className="wbk-chips" aria-hidden="true">
      {chips.map(({ text, kind, changed }, at) => {
        const [start, width] = [left, widths[at] ?? 0];
        left += width + GAP;
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

const GAP = 3;
