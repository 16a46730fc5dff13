// A list of moves, each with its price or the reason of its refusal.

import { memo } from "react";
import type { EffectView, MoveView } from "../../protocol";
import type { Shown } from "./move-order";
import { PriceTags } from "./price";
import type { StepJson } from "../step/steps";

export function MoveList(props: {
  moves: readonly Shown[];
  before: EffectView | null;
  open: (step: StepJson) => void;
  /** Hears of the move under the pointer or the focus, and when there is none any more. */
  point: (move: MoveView | null) => void;
}): JSX.Element {
  const { before, open, point } = props;
  return (
    <ul className="wbk-move-list" onPointerLeave={() => point(null)} onBlur={() => point(null)}>
      {props.moves.map(({ move, after, problem }) => (
        <Row key={move.step.source} move={move} before={before} after={after} problem={problem} open={open} point={point} />
      ))}
    </ul>
  );
}

interface RowProps {
  readonly move: MoveView;
  readonly before: EffectView | null;
  readonly after: EffectView | null;
  readonly problem: string;
  readonly open: (step: StepJson) => void;
  readonly point: (move: MoveView | null) => void;
}

const Row = memo(
  OneRow,
  (old, now) =>
    old.move === now.move && old.before === now.before && old.after === now.after && old.problem === now.problem,
);

function OneRow({ move, before, after, problem, open, point }: RowProps): JSX.Element {
  const { step, refused } = move;
  const given = step.text.slice(step.transform.length);
  return (
    <li className="wbk-move-row" data-source={step.source}>
      <button
        className={refused !== null ? "wbk-move wbk-refused-move" : "wbk-move"}
        type="button"
        title={step.source}
        onPointerEnter={() => point(move)}
        onFocus={() => point(move)}
        onClick={() => open(step.json)}
      >
        <span className="wbk-move-name">
          <b>{step.transform}</b>
          {plainArguments(given) || <span className="wbk-faint"> everything it can</span>}
        </span>
        {refused === null && <Price before={before} after={after} problem={problem} />}
        {refused !== null && <span className="wbk-why-not">Why not?</span>}
        {refused !== null && <span className="wbk-reason">{reason(move)}</span>}
      </button>
    </li>
  );
}

function Price({ before, after, problem }: Pick<RowProps, "before" | "after" | "problem">): JSX.Element | null {
  if (before && after) return <PriceTags before={before} after={after} />;
  if (problem) return <span className="wbk-prices wbk-faint" title={problem}>no estimate</span>;
  return <span className="wbk-prices wbk-faint" title="Estimated soon">…</span>;
}

/** Formats `('b', statements=('x',))` as ` b, statements=x`. */
export function plainArguments(text: string): string {
  return ` ${text.slice(1, -1).replace(/,\)/g, ")").replace(/['()]/g, "")}`.trimEnd();
}

/** Returns the sentence without the step, which stands in front of it already. */
export function reason(move: MoveView): string {
  return (move.refused ?? "").replace(`${move.step.text}: `, "");
}

/** Says that a list is in an order from before, and sorts it where the reader does not want to leave it for that. */
export function SortNow({ sort }: { sort: () => void }): JSX.Element {
  return (
    <button
      className="wbk-button wbk-link"
      type="button"
      title="Estimates came meanwhile: rows stay in place under your hand, and are sorted anew when you leave the list"
      onClick={sort}
    >
      Sort now
    </button>
  );
}
