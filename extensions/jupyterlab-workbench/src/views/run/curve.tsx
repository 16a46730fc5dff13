// The learning curve of a run over all its iterations, whether they are done or not.

import * as Plot from "@observablehq/plot";
import { useCallback } from "react";
import type { CurveView } from "../../protocol";
import { Figure } from "../charts/figure";
import { dimText, extent, outputText, tickText } from "../charts/outputs";
import { series } from "../charts/series";

/** Iterations up to which each has a dot. */
const FEW = 40;

/** Returns the length of the axis: it doubles while the curve grows, up to all iterations. */
export function axisLength(done: number, total: number): number {
  return Math.min(total, Math.max(2, 2 ** Math.ceil(Math.log2(Math.max(done, 1)))));
}

/** `total` is the length that the whole curve has. */
export function Curve({ curve, total }: { curve: CurveView; total: number }): JSX.Element {
  const { name, dim, every, values } = curve;
  const draw = useCallback((): Plot.PlotOptions => {
    const points = values.map((value, at) => ({ at: at * every, value: value ?? NaN }));
    const last = [...points].reverse().find(({ value }) => Number.isFinite(value));
    const stroke = series(0).colour;
    const length = axisLength(values.length * every, total);
    return {
      height: 210,
      marginLeft: 46,
      x: { label: dimText(dim), domain: [0, Math.max(length - 1, 1)], tickFormat: "d", ticks: Math.min(Math.max(length - 1, 1), 10) },
      y: { label: outputText(name), tickFormat: tickText, grid: true, nice: true, domain: extent(points) },
      marks: [
        Plot.lineY(points, { x: "at", y: "value", stroke, strokeWidth: 1.8, ...(points.length < FEW ? { marker: "dot" } : {}) }),
        ...(last ? [Plot.dot([last], { x: "at", y: "value", fill: stroke, r: 4 })] : []),
        Plot.tip(
          points,
          Plot.pointerX({
            x: "at",
            y: "value",
            title: ({ at, value }: { at: number; value: number }) => `${dim}=${at}: ${value.toPrecision(5)}`,
          }),
        ),
      ],
    };
  }, [name, dim, every, values, total]);
  return <Figure draw={draw} label={`${outputText(name)} over the run`} />;
}
