// The automatic recipe that was just found: what it gains, and what can be done next.

import { useSelection, useStore, useValues } from "../../model/hooks";
import type { CostView } from "../../protocol";
import type { Comparison } from "../compare/measured";
import type { Recipe } from "./folding";
import { Awaited, gainOf, Headline } from "./headline";

export function Found(props: {
  recipe: Recipe;
  comparison: Comparison | undefined;
  predictions: ReadonlyMap<string, CostView>;
  awaited: ReadonlySet<string>;
  isOpen: boolean;
  toggle: (key: string) => void;
}): JSX.Element {
  const { recipe, comparison, predictions, awaited, isOpen, toggle } = props;
  const store = useStore();
  const { status } = useValues();
  const { compared } = useSelection();
  const { last, steps } = recipe;
  const gain = gainOf(recipe, comparison, predictions);
  const both = [steps[0]?.parent ?? "", last.key];
  const isTicked = both.every((key) => compared.includes(key));
  return (
    <section className="wbk-found" aria-label="The recipe that was found" role="status">
      <div className="wbk-found-head">
        <b>{last.name}</b>
        <span>{steps.length === 1 ? "1 step" : `${steps.length} steps`}</span>
        <button className="wbk-icon" type="button" aria-label="Close the card" title="Close" onClick={() => store.select({ found: "" })}>
          ×
        </button>
      </div>
      {gain ? <Headline gain={gain} /> : <Awaited recipe={recipe} awaited={awaited} />}
      <div className="wbk-bar">
        {status === "connected" && !gain?.measured && (
          <button
            className="wbk-button"
            type="button"
            title="Run both in turn, each checked against the reference"
            onClick={() => store.select({ pane: "compare", compared: isTicked ? compared : [...new Set([...compared, ...both])] })}
          >
            Compare it with where it began
          </button>
        )}
        {steps.length > 1 && (
          <button className="wbk-button" type="button" aria-expanded={isOpen} onClick={() => toggle(last.key)}>
            {isOpen ? "Fold its steps" : "Show its steps and their reasons"}
          </button>
        )}
      </div>
    </section>
  );
}
