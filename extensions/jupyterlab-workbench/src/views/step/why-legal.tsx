// Why a step is legal: the sentence, the instances in the order after it, all pairs and what orders each.

import { useState } from "react";
import { usePart } from "../../model/hooks";
import type { Sizes } from "../../model/selection";
import type { ConditionView, OrderedView, ReasonView } from "../../protocol";
import { Waiting } from "../../waiting";
import { SmallSizes } from "../instances/small-sizes";
import { Space } from "../instances/space";
import type { StepJson } from "./steps";

export function WhyLegal({ step }: { step: StepJson }): JSX.Element {
  const [sizes, setSizes] = useState<Sizes | null>(null);
  const loaded = usePart("reason", { step, sizes });
  const [last, setLast] = useState<ReasonView | null>(null);
  if (loaded.value && loaded.value !== last) setLast(loaded.value);
  const shown = loaded.value ?? last;
  return (
    <section className="wbk-why" aria-label="Why it is legal">
      <div className="wbk-why-head">
        <h4>Why it is legal</h4>
        {shown?.space && <SmallSizes sizes={shown.sizes} used={used(shown)} set={setSizes} />}
      </div>
      {shown && <p className="wbk-sentence">{shown.sentence}</p>}
      {!loaded.value && <Waiting loaded={loaded} what="the reason" />}
      {shown?.space && <Space space={shown.space} orderSays="the order in which this step would run them" />}
      {shown && <Conditions conditions={shown.conditions} />}
      {shown && <Equations before={shown.before} after={shown.after} />}
      {shown && <Pairs pairs={shown.dependences} />}
    </section>
  );
}

/** Returns the names of the sizes that the drawn instances depend on: those above one. */
function used({ sizes }: ReasonView): readonly string[] {
  return Object.entries(sizes).flatMap(([name, size]) => (size > 1 ? [name] : []));
}

function Conditions({ conditions }: { conditions: readonly ConditionView[] }): JSX.Element | null {
  if (!conditions.length) return null;
  return (
    <dl className="wbk-conditions">
      {conditions.map(({ text, met }) => (
        <div key={`${text} ${met}`}>
          <dt>{text}</dt>
          <dd>{met}</dd>
        </div>
      ))}
    </dl>
  );
}

function Equations({ before, after }: { before: readonly string[]; after: readonly string[] }): JSX.Element | null {
  if (!before.length && !after.length) return null;
  return (
    <details className="wbk-notes">
      <summary>Equations before and after</summary>
      <pre className="wbk-code">{[...before.map((line) => `- ${line}`), ...after.map((line) => `+ ${line}`)].join("\n")}</pre>
    </details>
  );
}

/** All pairs of statements that the step moves, each with what orders it. */
function Pairs({ pairs }: { pairs: readonly OrderedView[] }): JSX.Element | null {
  if (!pairs.length) return null;
  return (
    <details className="wbk-notes">
      <summary>
        {pairs.length} pair{pairs.length > 1 ? "s" : ""} of statements, and what orders each
      </summary>
      <ul>
        {pairs.map((pair, place) => (
          <li key={place}>{pair.text}</li>
        ))}
      </ul>
    </details>
  );
}
