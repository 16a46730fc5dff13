// The settings of a measurement. Its progress is shown by the frame, whatever pane is open.

import { useState } from "react";
import { useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { type Sizes, tickedIn } from "../../model/selection";
import type { MeasurementView, SizeView, State } from "../../protocol";
import { useAsking } from "../../model/asking";
import { Expected } from "./expected";
import { changedSizes, runSizes } from "./measured";

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
  const { backend, sizes, dtype } = useSelection();
  const { ask, said } = useAsking();
  const measure = (variants: readonly string[], more: Partial<Settings> = {}): void => {
    const plain: Settings = { backend, sizes, dtype, seed: 0, repeats: null, force: false };
    ask({ type: "measure", variants, ...plain, ...more });
  };
  return { measure, said };
}

interface Settings {
  readonly backend: string;
  readonly sizes: Sizes;
  readonly dtype: "float32" | "float64";
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
  const { status } = useValues();
  const { compared, backend } = useSelection();
  const [repeats, setRepeats] = useState("");
  const { measure, said } = useMeasure();
  const variants = chosenVariants(state, compared);
  const reason = state.backends.find((one) => one.name === backend)?.reason ?? "";
  if (status === "saved") {
    return <p className="wbk-note">Saved results. Run the notebook to measure more.</p>;
  }
  const under = status === "connected" ? state.measuring : null; // of a kernel that is gone nothing is measured
  const measuring = under?.variants.map((key) => state.variants.find((one) => one.key === key)?.name);
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
        <Backend />
        <Dtype />
        <SizeInputs />
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
        <button className="wbk-button wbk-primary" type="submit" disabled={reason !== "" || measuring !== undefined || status !== "connected"}>
          {measuring ? "Measuring …" : `Measure ${variants.length} variant${variants.length === 1 ? "" : "s"}`}
        </button>
      </div>
      {!measuring && !reason && (
        <Expected variants={variants} rounds={rounds} force={() => measure(variants, { repeats: rounds, force: true })} />
      )}
      <p className="wbk-note">
        {measuring
          ? `Now: ${measuring.join(" · ")}`
          : reason
            ? `${backend} cannot run here: ${reason}`
            : tickedIn(state, compared).length
              ? "Those ticked among the variants, in turn, each checked against the reference first."
              : "The program as written and the shown variant; tick others among the variants."}
      </p>
      {said && (
        <p className="wbk-answer" role="alert">
          {said}
        </p>
      )}
    </form>
  );
}

function Backend(): JSX.Element {
  const { backends } = useWorkbench();
  const { backend } = useSelection();
  const store = useStore();
  return (
    <label className="wbk-field">
      <span>backend</span>
      <select value={backend} onChange={(event) => store.select({ backend: event.target.value })}>
        {backends.map(({ name, reason }) => (
          <option key={name} value={name} disabled={reason !== ""} title={reason}>
            {reason ? `${name} (${reason})` : name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Dtype(): JSX.Element {
  const { dtype } = useSelection();
  const store = useStore();
  return (
    <label className="wbk-field">
      <span>dtype</span>
      <select
        value={dtype}
        onChange={(event) => store.select({ dtype: event.target.value === "float64" ? "float64" : "float32" })}
      >
        <option>float32</option>
        <option>float64</option>
      </select>
    </label>
  );
}

function SizeInputs(): JSX.Element {
  const { sizes: known } = useWorkbench();
  const { sizes } = useSelection();
  const store = useStore();
  return (
    <>
      {known
        .filter((size) => size.derived === null)
        .map((size) => (
          <SizeInput
            key={`${size.name} ${sizes[size.name] ?? size.default}`}
            name={size.name}
            value={sizes[size.name] ?? size.default}
            set={(value) =>
              store.select({ sizes: changedSizes(known, { ...runSizes(known, sizes), [size.name]: value }) })
            }
          />
        ))}
    </>
  );
}

/** A number field that takes effect when it is left, or at Enter: every value in between would be predicted anew. */
function SizeInput(props: { name: string; value: number; set: (value: number) => void }): JSX.Element {
  const { name, value, set } = props;
  const [text, setText] = useState(String(value));
  const done = (): void => {
    const found = Math.floor(Number(text));
    if (found >= 1 && found !== value) set(found);
    else setText(String(value));
  };
  return (
    <label className="wbk-field">
      <span>{name}</span>
      <input
        type="number"
        min="1"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          done();
        }}
      />
    </label>
  );
}
