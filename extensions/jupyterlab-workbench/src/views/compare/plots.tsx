// Charts of one comparison: times and peaks with intervals, learning curves, predicted against measured.

import * as Plot from "@observablehq/plot";
import { useCallback, useState } from "react";
import { Figure } from "../charts/figure";
import { dimText, extent, firstOutput, lastOf, outputText, tickText } from "../charts/outputs";
import type { Lettered } from "./letters";
import { bytesText, byteUnit, secondsText, timeUnit } from "../../model/numbers";
import type { MeasurementView } from "../../protocol";
import { Uncalibrated } from "../run/estimated";

const ROW = 26;

/** Formats the interval of a median and the runs that it is of: `12.1 ms to 12.9 ms, 5 runs`. */
function runsText({ low, high, samples }: MeasurementView): string {
  return low === null || high === null ? "1 run" : `${secondsText(low)} to ${secondsText(high)}, ${samples.length} runs`;
}

/** Medians with their intervals, every sample a thin line. */
export function Times({ rows }: { rows: readonly Lettered[] }): JSX.Element | null {
  const timed = rows.filter(({ row }) => row.median !== null);
  const draw = useCallback((): Plot.PlotOptions => {
    const longest = Math.max(...timed.map(({ row }) => row.median ?? 0));
    const { unit, size } = timeUnit(longest);
    const samples = timed.flatMap((one) => one.row.samples.map((seconds) => ({ one, seconds: seconds / size })));
    return {
      height: ROW * timed.length + 58,
      marginLeft: 30,
      marginBottom: 40,
      x: { label: `time of a run (${unit}), median with 95 % interval`, zero: true, nice: true, grid: true },
      y: { label: null, domain: timed.map((one) => one.letter), tickSize: 0 },
      marks: [
        Plot.tickX(samples, {
          x: "seconds",
          y: ({ one }: { one: Lettered }) => one.letter,
          stroke: ({ one }: { one: Lettered }) => one.series.colour,
          strokeOpacity: 0.35,
        }),
        Plot.ruleY(timed, {
          y: "letter",
          x1: ({ row }: Lettered) => (row.low ?? row.median ?? 0) / size,
          x2: ({ row }: Lettered) => (row.high ?? row.median ?? 0) / size,
          stroke: ({ series }: Lettered) => series.colour,
          strokeWidth: 3,
        }),
        Plot.dot(timed, {
          y: "letter",
          x: ({ row }: Lettered) => (row.median ?? 0) / size,
          fill: ({ series }: Lettered) => series.colour,
          r: 5,
        }),
        Plot.tip(
          timed,
          Plot.pointerY({
            y: "letter",
            x: ({ row }: Lettered) => (row.median ?? 0) / size,
            title: ({ name, row }: Lettered) =>
              `${name}\n${secondsText(row.median)}, ${runsText(row)}`,
          }),
        ),
      ],
    };
  }, [rows]);
  if (!timed.length) return null;
  return <Figure draw={draw} label="Times with intervals" />;
}

/** Bars by memory space, the prediction a line across. */
export function Peaks({ rows }: { rows: readonly Lettered[] }): JSX.Element | null {
  const held = rows.filter(({ row }) => Object.values(row.peak_bytes).some((bytes) => bytes > 0));
  const draw = useCallback((): Plot.PlotOptions => {
    const bars = held.flatMap((one) =>
      Object.entries(one.row.peak_bytes).map(([space, bytes]) => ({ one, space, bytes })),
    );
    const { unit, size } = byteUnit(Math.max(...bars.map(({ bytes }) => bytes)));
    const said = held.filter(({ row }) => row.predicted_peak_bytes["device"] !== undefined);
    return {
      height: ROW * held.length + 58,
      marginLeft: 30,
      marginBottom: 40,
      x: { label: `peak memory (${unit}); pale: host; line: predicted`, nice: true, grid: true },
      y: { label: null, domain: held.map((one) => one.letter), tickSize: 0, padding: 0.35 },
      marks: [
        Plot.barX(bars, {
          y: ({ one }: { one: Lettered }) => one.letter,
          x: ({ bytes }: { bytes: number }) => bytes / size,
          fill: ({ one }: { one: Lettered }) => one.series.colour,
          fillOpacity: ({ space }: { space: string }) => (space === "device" ? 0.85 : 0.35),
          title: ({ one, space, bytes }: { one: Lettered; space: string; bytes: number }) =>
            `${one.name}\n${bytesText(bytes)} ${space}`,
          tip: true,
        }),
        Plot.tickX(said, {
          y: "letter",
          x: ({ row }: Lettered) => (row.predicted_peak_bytes["device"] ?? 0) / size,
          stroke: "currentColor",
          strokeWidth: 2,
        }),
        Plot.ruleX([0]),
      ],
    };
  }, [rows]);
  if (!held.length) return null;
  return <Figure draw={draw} label="Peak memory" />;
}

/** The curves of the last run of each: variants that compute the same lie on one line. */
export function Curves({ rows }: { rows: readonly Lettered[] }): JSX.Element | null {
  const names = [...new Set(rows.flatMap(({ row }) => row.curves.map((curve) => curve.name)))];
  const [asked, setAsked] = useState("");
  const name = names.includes(asked) ? asked : firstOutput(names);
  const draw = useCallback((): Plot.PlotOptions => {
    const curves = rows.flatMap((one) => one.row.curves.filter((curve) => curve.name === name).map((curve) => ({ one, curve })));
    const dim = curves[0]?.curve.dim ?? "";
    const lines = curves.map(({ one, curve }) => ({
      series: one.series,
      points: curve.values.map((value, at) => ({ one, at: at * curve.every, value: value ?? NaN })),
    }));
    const longest = Math.max(...curves.map(({ curve }) => curve.values.length));
    const few = longest < 40;
    return {
      height: 190,
      marginLeft: 46,
      x: { label: dimText(dim), tickFormat: "d", ticks: Math.min(longest - 1, 10) },
      y: { label: outputText(name), tickFormat: tickText, grid: true, nice: true, domain: extent(lines.flatMap(({ points }) => points)) },
      marks: [
        // lines that coincide are seen all the same: the first the widest, each next one narrower
        ...lines.map(({ series: { colour }, points }, position) =>
          Plot.lineY(points, {
            x: "at",
            y: "value",
            stroke: colour,
            strokeWidth: 1.6 + 2.2 * (lines.length - 1 - position),
            ...(few && position === lines.length - 1 ? { marker: "dot" } : {}),
          }),
        ),
        Plot.tip(
          lines.flatMap(({ points }) => points),
          Plot.pointer({
            x: "at",
            y: "value",
            title: ({ one, at, value }: { one: Lettered; at: number; value: number }) =>
              `${one.letter} ${one.name}\n${dim}=${at}: ${value.toPrecision(5)}`,
          }),
        ),
      ],
    };
  }, [rows, name]);
  if (!names.length) return null;
  return (
    <>
      <div className="wbk-bar">
        <h4>Learning curves</h4>
        <label className="wbk-field">
          <span>output</span>
          <select value={name} onChange={(event) => setAsked(event.target.value)}>
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      {rows.some(({ row }) => row.curves.some((curve) => curve.name === name && lastOf(curve) !== null)) ? (
        <Figure draw={draw} label={`${name} over the run`} />
      ) : (
        <p className="wbk-hint">{outputText(name)}: no value is finite.</p>
      )}
    </>
  );
}

/** A point for each variant; within the band the prediction is right by a factor of two. */
export function Predicted({ rows }: { rows: readonly Lettered[] }): JSX.Element | null {
  const known = rows.filter(({ row }) => row.median !== null && (row.predicted_seconds ?? 0) > 0);
  const draw = useCallback(
    (width: number): Plot.PlotOptions => {
      const all = known.flatMap(({ row }) => [row.median ?? 1, row.predicted_seconds ?? 1]);
      const { unit, size } = timeUnit(Math.max(...all));
      const [low, high] = [(Math.min(...all) / size) / 2.5, Math.max(...all) / size * 2.5];
      const side = Math.min(width, 340);
      const ends = [low, high];
      return {
        width: side,
        height: side * 0.8,
        marginLeft: 52,
        x: { type: "log", domain: ends, label: `predicted (${unit})`, ticks: 4, tickFormat: "~g" },
        y: { type: "log", domain: ends, label: `measured (${unit})`, ticks: 4, tickFormat: "~g" },
        marks: [
          Plot.areaY(ends, { x: (end: number) => end, y1: (end: number) => end / 2, y2: (end: number) => end * 2, fill: "currentColor", fillOpacity: 0.09, clip: true }),
          Plot.line(ends, { x: (end: number) => end, y: (end: number) => end, stroke: "currentColor", strokeOpacity: 0.5, strokeDasharray: "4 3" }),
          Plot.ruleX(known, {
            x: ({ row }: Lettered) => (row.predicted_seconds ?? 0) / size,
            y1: ({ row }: Lettered) => (row.low ?? row.median ?? 0) / size,
            y2: ({ row }: Lettered) => (row.high ?? row.median ?? 0) / size,
            stroke: ({ series }: Lettered) => series.colour,
            strokeWidth: 2,
          }),
          Plot.dot(known, {
            x: ({ row }: Lettered) => (row.predicted_seconds ?? 0) / size,
            y: ({ row }: Lettered) => (row.median ?? 0) / size,
            fill: ({ series }: Lettered) => series.colour,
            r: 4,
            title: ({ name, row }: Lettered) =>
              `${name}\npredicted ${secondsText(row.predicted_seconds)}\nmeasured ${secondsText(row.median)}`,
            tip: { lineWidth: 12 }, // on either side of a point there is room for so much
          }),
          Plot.text(known, {
            x: ({ row }: Lettered) => (row.predicted_seconds ?? 0) / size,
            y: ({ row }: Lettered) => (row.median ?? 0) / size,
            text: "letter",
            dx: 10,
          }),
        ],
      };
    },
    [rows],
  );
  if (!known.length) return null;
  const within = known.filter(({ row }) => {
    const ratio = (row.median ?? 0) / (row.predicted_seconds ?? 1);
    return ratio >= 0.5 && ratio <= 2;
  }).length;
  const note = known.find(({ row }) => row.prediction_note)?.row.prediction_note;
  return (
    <>
      <h4>Predicted against measured</h4>
      <Figure draw={draw} label="Predicted against measured times" />
      <p className="wbk-note">
        {within} of {known.length} within a factor of two (the band).{note ? ` ${note}.` : ""}
        {note?.startsWith("uncalibrated") && <Uncalibrated note={note}>times were rough</Uncalibrated>}
      </p>
    </>
  );
}
