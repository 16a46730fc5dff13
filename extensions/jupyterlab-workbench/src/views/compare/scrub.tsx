// Sizes on sliders: predictions are there for every stop before the slider moves, and so follow at once.

import { useState } from "react";
import { usePredicting, useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { nameOfKey } from "../../model/naming";
import { ABSENT, WAITING } from "../../model/parts";
import { Waiting } from "../../waiting";
import { letterOf, type Lettered } from "./letters";
import { chosenVariants, useMeasure } from "./measure";
import { changedSizes } from "./measured";
import { sizesText } from "../../model/numbers";
import { seriesIn } from "../charts/series";
import type { SweepView } from "../../protocol";
import { type Swept, Sweeps } from "./sweeps";

/** `rows` are the comparison above: a variant keeps its letter and colour. */
export function Scrubber({ rows }: { rows: readonly Lettered[] }): JSX.Element | null {
  const state = useWorkbench();
  const { sizes, compared } = useSelection();
  const { status } = useValues();
  const store = useStore();
  const free = state.sizes.filter((size) => size.derived === null);
  const [asked, setAsked] = useState("");
  const size = free.find((one) => one.name === asked) ?? free.find((one) => one.name === "T") ?? free[0];
  const [dragged, setDragged] = useState<number | null>(null);
  const { measure, said } = useMeasure();
  const here = size ? (sizes[size.name] ?? size.default) : 0;
  const { swept, problem, absent } = useSwept(size?.name ?? "", here, rows);
  if (!size) return null;
  const stops = swept[0]?.view.points.map((point) => point.value) ?? [];
  const value = dragged ?? here;
  const release = (): void => {
    if (dragged === null) return;
    store.select({ sizes: changedSizes(state.sizes, { ...sizes, [size.name]: dragged }) });
    setDragged(null);
  };
  const at = Math.max(0, stops.filter((stop) => stop <= value).length - 1);
  return (
    <>
      <h4>As sizes grow</h4>
      <div className="wbk-bar">
        <div className="wbk-segments" role="group" aria-label="Size">
          {free.map(({ name }) => (
            <button key={name} type="button" aria-pressed={name === size.name} onClick={() => setAsked(name)}>
              {name}
            </button>
          ))}
        </div>
        {stops.length > 1 && (
          <input
            className="wbk-slider"
            type="range"
            aria-label={`${size.name}, predicted at once`}
            aria-valuetext={`${size.name}=${value}`}
            min={0}
            max={stops.length - 1}
            value={at}
            onChange={(event) => setDragged(stops[Number(event.target.value)] ?? here)}
            onPointerUp={release}
            onKeyUp={release}
            onBlur={release}
          />
        )}
        <output className="wbk-slider-value">
          {size.name}={value}
        </output>
        {Object.keys(sizes).length > 0 && (
          <button className="wbk-button" type="button" onClick={() => store.select({ sizes: {} })}>
            Defaults
          </button>
        )}
      </div>
      {swept.length === 0 ? (
        problem ? (
          <p className="wbk-note" role="status">
            No prediction over this size: {problem}
          </p>
        ) : (
          <Waiting loaded={absent ? ABSENT : WAITING} what="predictions over this size" />
        )
      ) : (
        <Sweeps swept={swept} size={size.name} value={value} />
      )}
      {status !== "saved" && swept.length > 0 && (
        <div className="wbk-bar">
          <button
            className="wbk-button"
            type="button"
            disabled={state.measuring !== null}
            onClick={() => measure(chosenVariants(state, compared), { sizes: changedSizes(state.sizes, { ...sizes, [size.name]: value }) })}
          >
            Verify by a run at {sizesText({ ...sizes, [size.name]: value })}
          </button>
          {said && (
            <p className="wbk-answer" role="alert">
              {said}
            </p>
          )}
        </div>
      )}
    </>
  );
}

/** Keeps a slider's stops while it is moved: they lie around the default, or around a value that is beyond these. */
function useSwept(
  size: string,
  here: number,
  rows: readonly Lettered[],
): { readonly swept: readonly Swept[]; readonly problem: string; readonly absent: boolean } {
  const state = useWorkbench();
  const { compared } = useSelection();
  const { sizes, ...run } = usePredicting();
  const store = useStore();
  useValues();
  const others = Object.fromEntries(Object.entries(sizes).filter(([name]) => name !== size));
  const swept: Swept[] = [];
  let [problem, free, absent] = ["", rows.length, false];
  for (const key of chosenVariants(state, compared)) {
    const row = rows.find((one) => one.row.variant === key);
    const position = row ? rows.indexOf(row) : free++;
    const usual = store.part("sweep", key, { size, sizes: others, ...run });
    const beyond = usual.value && !isAmong(here, usual.value);
    const around = beyond ? store.part("sweep", key, { size, sizes: { ...others, [size]: here }, ...run }) : usual;
    const { value, error, status } = around.status === "absent" ? usual : around;
    if (error) problem = error.sentence;
    if (status === "absent") absent = true;
    if (value) swept.push({ variant: key, letter: letterOf(position), name: nameOfKey(key, state.variants), series: seriesIn(state, key), view: value });
  }
  return { swept, problem, absent };
}

const isAmong = (value: number, { points }: SweepView): boolean =>
  value >= (points[0]?.value ?? value) && value <= (points.at(-1)?.value ?? value);
