// The variants as a tree of steps: the effect of each, measured or predicted, and its menu.

import { useEffect, useMemo, useRef, useState } from "react";
import { usePredicting, useSelection, useStore, useWorkbench } from "../../model/hooks";
import type { MeasurementView } from "../../protocol";
import { type Ask, useAsking } from "../../model/asking";
import {
  changedSizes,
  type Comparison,
  comparisons,
  dateText,
  stepsSince,
  useAwaited,
  usePredictions,
} from "../compare/measured";
import { nameOfKey } from "../../model/naming";
import { sizesText } from "../../model/numbers";
import { Estimated } from "../run/estimated";
import { folded } from "./folding";
import { Found } from "./found";
import { Optimize } from "./recipe";
import { stations } from "./subway";
import { Row } from "./variant-row";

export function Variants(): JSX.Element {
  const state = useWorkbench();
  const [basis, setBasis] = useState("");
  const [dropped, setDropped] = useState<Dropped | null>(null);
  const { ask, said, doing, tell, forget } = useAsking();
  const all = comparisons(state);
  const shown = basis === "estimate" ? undefined : (all.find(({ group }) => group === basis) ?? all[0]);
  const run = useRun(shown);
  const predictions = usePredictions(state.variants, run);
  const awaited = useAwaited(state.variants, run);

  const drop = (variant: string, onto: string): void => {
    const steps = stepsSince(state, variant, onto);
    if (steps > 1) setDropped({ variant, onto, steps });
    else if (steps === 1) ask({ type: "replay", variant, onto, only_last: true }, "Checking the step …");
  };
  const { compared, found } = useSelection();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const { variants, recipes } = useMemo(
    () => folded(state.variants, new Set([state.current, ...compared]), open),
    [state.variants, state.current, compared, open],
  );
  const toggle = (key: string): void => setOpen((before) => without(before, key) ?? new Set([...before, key]));
  const rows = stations(variants);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (found) list.current?.querySelector("[aria-current]")?.scrollIntoView?.({ block: "nearest" });
  }, [found]);
  const end = state.variants.find(({ key }) => key === found);
  const lanes = Math.max(...rows.map((row) => row.lane)) + 1;
  return (
    <div className="wbk-view">
      <div className="wbk-bar">
        <Basis all={all} chosen={shown?.group ?? "estimate"} choose={setBasis} />
        <CompareTicked />
        <Optimize />
      </div>
      {!shown && <Estimated cost={predictions.get(state.current) ?? null} />}
      {end && (
        <Found
          recipe={recipes.get(found) ?? { last: end, steps: [end] }}
          comparison={shown}
          predictions={predictions}
          awaited={awaited}
          isOpen={open.has(found)}
          toggle={toggle}
        />
      )}
      {said && (
        <p className="wbk-answer" role="alert">
          {said}
          <button className="wbk-icon" type="button" aria-label="Dismiss" onClick={forget}>
            ×
          </button>
        </p>
      )}
      {doing && (
        <p className="wbk-note" role="status">
          {doing}
        </p>
      )}
      {dropped && <Drop dropped={dropped} ask={ask} close={() => setDropped(null)} />}
      <ul className="wbk-tree" aria-label="Variants" ref={list}>
        {rows.map((row) => (
          <Row
            key={row.variant.key}
            row={row}
            recipe={recipes.get(row.variant.key)}
            isOpen={open.has(row.variant.key)}
            toggle={toggle}
            lanes={lanes}
            comparison={shown}
            predictions={predictions}
            awaited={awaited}
            ask={ask}
            drop={drop}
            tell={tell}
          />
        ))}
      </ul>
    </div>
  );
}

/** Returns a set without a key; null where it has none of it. */
const without = (keys: ReadonlySet<string>, key: string): ReadonlySet<string> | null =>
  keys.has(key) ? new Set([...keys].filter((one) => one !== key)) : null;

/** Returns the settings of predictions: those of the measurements beside them. */
function useRun(shown: Comparison | undefined): Parameters<typeof usePredictions>[1] {
  const { sizes } = useWorkbench();
  const chosen = usePredicting();
  const first = shown?.rows[0];
  if (!first) return chosen;
  const dtype = first.dtype === "float64" ? "float64" : "float32";
  return { ...chosen, sizes: changedSizes(sizes, first.sizes), backend: first.backend, dtype };
}

function Basis(props: {
  all: readonly Comparison[];
  chosen: string;
  choose: (group: string) => void;
}): JSX.Element {
  const { all, chosen, choose } = props;
  return (
    <label className="wbk-field">
      <span>Numbers</span>
      <select className="wbk-long" value={chosen} onChange={(event) => choose(event.target.value)}>
        {all.map(({ group, rows: [first] }) => (
          <option key={group} value={group}>
            {first && basisText(first)}
          </option>
        ))}
        <option value="estimate">predicted only</option>
      </select>
    </label>
  );
}

/** A button to where the ticked variants are measured in turn and stand beside each other. */
function CompareTicked(): JSX.Element | null {
  const { variants } = useWorkbench();
  const { compared } = useSelection();
  const store = useStore();
  const count = variants.filter((variant) => compared.includes(variant.key)).length;
  if (!count) return null;
  return (
    <>
      <button className="wbk-button" type="button" onClick={() => store.select({ pane: "compare" })}>
        Compare {count} ticked
      </button>
      <button className="wbk-button wbk-link" type="button" onClick={() => store.select({ compared: [] })}>
        untick
      </button>
    </>
  );
}

function basisText({ recorded, date, device, backend, sizes }: MeasurementView): string {
  const where = recorded ? `recorded on ${device}` : `measured on ${backend}`;
  const text = sizesText(sizes);
  return `${where}, ${dateText(date)}${text && `: ${text}`}`;
}

interface Dropped {
  readonly variant: string;
  readonly onto: string;
  readonly steps: number;
}

/** A choice of the steps that are meant, where there are several. */
function Drop(props: { dropped: Dropped; ask: Ask; close: () => void }): JSX.Element {
  const { variant, onto, steps } = props.dropped;
  const { variants } = useWorkbench();
  const name = (key: string): string => nameOfKey(key, variants);
  const take = (only_last: boolean): void => {
    props.close();
    props.ask({ type: "replay", variant, onto, only_last }, "Checking every step …");
  };
  return (
    <div className="wbk-answer wbk-question" role="group" aria-label="Which steps">
      <span>
        On <b>{name(onto)}</b>, each step checked anew, take
      </span>
      <button className="wbk-button" type="button" autoFocus onClick={() => take(false)}>
        all {steps} steps to {name(variant)}
      </button>
      <button className="wbk-button" type="button" onClick={() => take(true)}>
        the last alone
      </button>
      <button className="wbk-icon" type="button" aria-label="Take none" onClick={props.close}>
        ×
      </button>
    </div>
  );
}
