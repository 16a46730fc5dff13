// Predicted time and peak over one size, a line a variant, with the measured runs.

import * as Plot from "@observablehq/plot";
import { useCallback } from "react";
import { usePredicting, useSelection, useStore, useWorkbench } from "../../model/hooks";
import type { Sizes } from "../../model/selection";
import type { MeasurementView, SweepView } from "../../protocol";
import { Figure } from "../charts/figure";
import { amountText, bytesText, byteUnit, secondsText, timeUnit, type Unit } from "../../model/numbers";
import type { Series } from "../charts/series";

export interface Swept {
  readonly variant: string;
  readonly letter: string;
  readonly name: string;
  readonly series: Series;
  readonly view: SweepView;
}

/** A quantity drawn over the sizes. Where a run was measured, its value stands beside the prediction. */
interface Quantity {
  readonly title: string;
  readonly predicted: (point: SweepView["points"][number]) => number | null;
  readonly measured: (row: MeasurementView) => number | null;
  readonly unit: (most: number) => Unit;
}

const QUANTITIES: readonly Quantity[] = [
  { title: "time of a run", predicted: (point) => point.seconds, measured: (row) => row.median, unit: timeUnit },
  {
    title: "peak",
    predicted: (point) => point.peak_bytes["device"] ?? null,
    measured: (row) => row.peak_bytes["device"] ?? null,
    unit: byteUnit,
  },
];

interface Run {
  readonly one: Swept;
  readonly row: MeasurementView;
  readonly value: number;
}

/** Returns measurements that differ from the prediction's settings in nothing but the size. */
export function runsAlong(
  swept: readonly Swept[],
  size: string,
  free: readonly string[],
  measurements: readonly MeasurementView[],
  { backend, dtype }: { readonly backend: string; readonly dtype: string },
): readonly Run[] {
  const others = (sizes: Sizes): string =>
    free.filter((name) => name !== size).map((name) => `${name}=${sizes[name]}`).join(" ");
  return swept.flatMap((one) =>
    measurements.flatMap((row) => {
      const value = row.sizes[size];
      const same = row.variant === one.variant && row.backend === backend && row.dtype === dtype && !row.recorded;
      if (!same || value === undefined || others(row.sizes) !== others(one.view.sizes)) return [];
      return [{ one, row, value }];
    }),
  );
}

export function Sweeps(props: { swept: readonly Swept[]; size: string; value: number }): JSX.Element {
  const { swept, size, value } = props;
  const { measurements, sizes } = useWorkbench();
  const selection = useSelection();
  const free = sizes.filter((known) => known.derived === null).map((known) => known.name);
  const runs = runsAlong(swept, size, free, measurements, selection);
  const key = [
    ...swept.map(({ letter, view }) => `${letter} ${JSON.stringify(view.sizes)}`),
    ...runs.map(({ row }) => `${row.id} ${row.samples.length}`),
  ].join(" ");
  const latest = (one: Swept): MeasurementView | undefined =>
    runs.filter((run) => run.one === one && run.value === value).at(-1)?.row;
  return (
    <>
      <div className="wbk-sweeps">
        {QUANTITIES.map((quantity) => (
          <Sweep key={quantity.title} quantity={quantity} swept={swept} runs={runs} size={size} value={value} mark={key} />
        ))}
      </div>
      <p className="wbk-note">Lines are predicted, rings measured.</p>
      <ul className="wbk-series">
        {swept.map((one) => (
          <Estimate key={one.letter} one={one} value={value} measured={latest(one)} />
        ))}
      </ul>
    </>
  );
}

function Estimate(props: { one: Swept; value: number; measured: MeasurementView | undefined }): JSX.Element {
  const store = useStore();
  const { letter, name, series, variant, view } = props.one;
  const run = usePredicting();
  // The chosen sizes need not be among the stops.
  const stop = view.points.find((point) => point.value === props.value);
  const point = stop ?? store.part("cost", variant, run).value;
  const { measured } = props;
  return (
    <li>
      <b style={{ color: series.colour }}>{letter}</b>
      <span className="wbk-series-name">{name}</span>
      <span className="wbk-estimate">
        {point ? `≈ ${secondsText(point.seconds)}, ${bytesText(point.peak_bytes["device"])}` : "no prediction at this value"}
      </span>
      {measured?.median != null && (
        <span>
          measured {secondsText(measured.median)}, {bytesText(measured.peak_bytes["device"])}
        </span>
      )}
    </li>
  );
}

function Sweep(props: {
  quantity: Quantity;
  swept: readonly Swept[];
  runs: readonly Run[];
  size: string;
  value: number;
  /** A text that identifies the data: the same sweeps are new objects with every drawing. */
  mark: string;
}): JSX.Element {
  const { quantity, swept, runs, size, value, mark } = props;
  const draw = useCallback(
    (width: number): Plot.PlotOptions => chart(quantity, swept, runs, size, value, width),
    [quantity, mark, size, value],
  );
  return <Figure draw={draw} label={`${quantity.title}, predicted over ${size}`} />;
}

/** Formats a size below an axis, where there is no room for more than a few digits. */
const countText = (count: number): string => (count < 1e6 ? `${count}` : amountText(count, ""));

interface Dot {
  readonly one: Swept;
  readonly value: number;
  readonly y: number;
}

function chart(
  { title, predicted, measured, unit: unitOf }: Quantity,
  swept: readonly Swept[],
  runs: readonly Run[],
  size: string,
  value: number,
  width: number,
): Plot.PlotOptions {
  const dots = (one: Swept): readonly Dot[] =>
    one.view.points.flatMap((point) => {
      const y = predicted(point);
      return y ? [{ one, value: point.value, y }] : [];
    });
  const predictions = swept.flatMap(dots);
  const verified = runs.flatMap(({ one, row, value: at }) => {
    const y = measured(row);
    return y ? [{ one, value: at, y }] : [];
  });
  const { unit, size: each } = unitOf(Math.max(...[...predictions, ...verified].map(({ y }) => y)));
  const y = (dot: Dot): number => dot.y / each;
  const colour = ({ one }: Dot): string => one.series.colour;
  return {
    height: 180,
    marginLeft: 46,
    marginRight: 20,
    x: { type: "log", label: size, ticks: Math.max(3, width / 90), tickFormat: countText, tickSize: 0 },
    y: { type: "log", label: `${title} (${unit})`, grid: true, ticks: 4, tickFormat: "~g", tickSize: 0 },
    marks: [
      Plot.ruleX([value], { stroke: "currentColor", strokeOpacity: 0.6 }),
      ...swept.map((one) =>
        Plot.lineY(dots(one), { x: "value", y, stroke: one.series.colour, strokeDasharray: one.series.dash }),
      ),
      Plot.dot(predictions.filter((dot) => dot.value === value), { x: "value", y, fill: colour, r: 3.5 }),
      Plot.dot(verified, { x: "value", y, stroke: colour, strokeWidth: 2, fill: "var(--wbk-back)", r: 5 }),
    ],
  };
}
