// The settings of a measurement. Its progress is shown by the frame, whatever pane is open.

import { useState } from "react";
import { usePart, usePredicting, useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { nameOfKey } from "../../model/naming";
import { type Predicting, tickedIn } from "../../model/selection";
import type { MeasurementView, SizeView, State } from "../../protocol";
import { Estimated } from "../run/estimated";
import { RunFields } from "../run/fields";
import { useAsking } from "../../model/asking";
import { Expected } from "./expected";
import { changedSizes } from "./measured";

/** Returns the ticked variants in the order of the tree; without any the shown one beside the program as written. */
export function chosenVariants(state: State, compared: readonly string[]): readonly string[] {
  const ticked = tickedIn(state, compared);
  const wanted = ticked.length ? ticked : [state.root, state.current];
  return state.variants.map((variant) => variant.key).filter((key) => wanted.includes(key));
}

/** Starts a measurement; `said` is the reason why it could not. */
export function useMeasure(): {
  readonly measure: (variants: readonly string[], more?: Partial<Settings>) => void;
  readonly said: string;
} {
  const run = usePredicting();
  const { ask, said } = useAsking();
  const measure = (variants: readonly string[], more: Partial<Settings> = {}): void => {
    const plain: Settings = { lengths: {}, ...run, seed: 0, repeats: null, force: false };
    ask({ type: "measure", variants, ...plain, ...more });
  };
  return { measure, said };
}

/** What is measured where no variant is ticked. */
const [ONE, TWO] = ["The program as written", "The program as written and the shown variant"];

interface Settings extends Required<Predicting> {
  readonly seed: number;
  readonly repeats: number | null;
  readonly force: boolean;
}

/** Returns the settings of a measurement, for one more of the same. */
export function settingsOf(known: readonly SizeView[], found: MeasurementView): Partial<Settings> {
  const { backend, seed } = found;
  return { backend, seed, sizes: changedSizes(known, found.sizes), dtype: found.dtype === "float64" ? "float64" : "float32" };
}

export function MeasureForm(): JSX.Element {
  const state = useWorkbench();
  const store = useStore();
  const { status } = useValues();
  const { compared, backend } = useSelection();
  const [repeats, setRepeats] = useState("");
  const cost = usePart("cost", usePredicting()).value;
  const { measure, said } = useMeasure();
  const variants = chosenVariants(state, compared);
  const reason = state.backends.find((one) => one.name === backend)?.reason ?? "";
  if (status === "saved") {
    return <p className="wbk-note">Saved results. Run the notebook to measure more.</p>;
  }
  const under = status === "connected" ? state.measuring : null; // of a kernel that is gone nothing is measured
  const busy = reason !== "" || under !== null || status !== "connected";
  const measured = under?.what === "measurement" ? under.variants : undefined;
  const measuring = measured?.map((key) => nameOfKey(key, state.variants));
  const rounds = Number(repeats) >= 1 ? Math.floor(Number(repeats)) : null;
  return (
    <form
      className="wbk-measure"
      onSubmit={(event) => {
        event.preventDefault();
        measure(variants, { repeats: rounds });
      }}
    >
      <div className="wbk-bar">
        <RunFields />
        <label className="wbk-field">
          <span>rounds</span>
          <input
            type="number"
            min="1"
            placeholder="enough"
            title="Left empty: as many as fit into about two seconds, 5 to 30"
            value={repeats}
            onChange={(event) => setRepeats(event.target.value)}
          />
        </label>
        <button className="wbk-button wbk-primary" type="submit" disabled={busy}>
          {measuring ? "Measuring …" : `Measure ${variants.length} variant${variants.length === 1 ? "" : "s"}`}
        </button>
      </div>
      {!reason && <Estimated cost={cost} />}
      {!measuring && !reason && (
        <Expected
          variants={variants}
          rounds={rounds}
          at={(sizes) => {
            store.select({ sizes });
            measure(variants, { repeats: rounds, sizes });
          }}
          force={() => measure(variants, { repeats: rounds, force: true })}
        />
      )}
      <p className="wbk-note">
        {measuring
          ? `Now: ${measuring.join(" · ")}`
          : reason
            ? `${backend} cannot run here: ${reason}`
            : tickedIn(state, compared).length
              ? "Those ticked among the variants, in turn, each checked against the reference first."
              : `${variants.length === 1 ? ONE : TWO}${state.variants.length > variants.length ? "; tick others among the variants" : ""}.`}
      </p>
      {said && (
        <p className="wbk-answer" role="alert">
          {said}
        </p>
      )}
    </form>
  );
}
