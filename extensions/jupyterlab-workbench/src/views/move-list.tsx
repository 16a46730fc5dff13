// A list of moves, each with its price or why it is refused.

import { memo } from "react";
import type { EffectView, MoveView } from "../protocol";
import { PriceTags, worth } from "./price";
import type { StepJson } from "./steps";

/** A move and the prediction it is compared with. */
export interface Shown {
  readonly move: MoveView;
  readonly before: EffectView | null;
}

export interface Filter {
  readonly text: string;
  /** "" for every kind. */
  readonly transform: string;
  readonly refused: boolean;
  readonly by: "time" | "peak";
}

export const NO_FILTER: Filter = { text: "", transform: "", refused: true, by: "time" };

export function filtered(moves: readonly Shown[], filter: Filter): readonly Shown[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return moves.filter(({ move }) => {
    if (filter.transform && move.step.transform !== filter.transform) return false;
    if (!filter.refused && move.refusal) return false;
    if (!words.length) return true;
    const text = `${move.step.source} ${move.refusal?.sentence ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** What helps most first; what is refused last. Of equal ones the order in which they came. */
export function sorted(moves: readonly Shown[], by: Filter["by"]): readonly Shown[] {
  const rank = new Map(moves.map((shown) => [shown, worth(shown.before, shown.move.effect, by)]));
  return [...moves].sort(
    (one, other) =>
      Number(one.move.refusal !== null) - Number(other.move.refusal !== null) ||
      (rank.get(one) ?? 0) - (rank.get(other) ?? 0),
  );
}

export function MoveList(props: {
  moves: readonly Shown[];
  open: (step: StepJson) => void;
}): JSX.Element {
  return (
    <ul className="wbk-move-list">
      {props.moves.map(({ move, before }) => (
        <Row key={move.step.source} move={move} before={before} open={props.open} />
      ))}
    </ul>
  );
}

const Row = memo(OneRow, (old, now) => old.move === now.move && old.before === now.before);

function OneRow(props: { move: MoveView; before: EffectView | null; open: (step: StepJson) => void }): JSX.Element {
  const { move, before, open } = props;
  const { step, refusal } = move;
  const given = step.text.slice(step.transform.length);
  return (
    <li className="wbk-move-row">
      <button
        className={refusal ? "wbk-move wbk-refused-move" : "wbk-move"}
        type="button"
        title={step.source}
        onClick={() => open(step.json)}
      >
        <span className="wbk-move-name">
          <b>{step.transform}</b>
          {plainArguments(given) || <span className="wbk-faint"> everything it can</span>}
        </span>
        {!refusal && before && move.effect && <PriceTags before={before} after={move.effect} />}
        {!refusal && !move.effect && <span className="wbk-prices wbk-faint">…</span>}
        {refusal && <span className="wbk-why-not">Why not?</span>}
        {refusal && <span className="wbk-reason">{reason(move)}</span>}
      </button>
    </li>
  );
}

/** `('b', statements=('x',))` reads as ` b, statements=x`. */
function plainArguments(text: string): string {
  return ` ${text.slice(1, -1).replace(/,\)/g, ")").replace(/['()]/g, "")}`.trimEnd();
}

/** The sentence without the step, which stands in front of it already. */
function reason(move: MoveView): string {
  return (move.refusal?.sentence ?? "").replace(`${move.step.text}: `, "");
}
