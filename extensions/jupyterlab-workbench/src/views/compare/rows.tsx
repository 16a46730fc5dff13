// The rows of `wb.compare`: sortable, and as CSV.

import { useState } from "react";
import { copy, download } from "../../model/files";
import { useStore, useValues, useWorkbench } from "../../model/hooks";
import type { MeasurementView } from "../../protocol";
import { Unfinished, useCheck } from "./badge";
import type { Lettered } from "./letters";
import { settingsOf, useMeasure } from "./measure";
import { bytesText, digits, hasRatio, ratiosText, secondsText, timeUnit } from "../../model/numbers";

interface Column {
  readonly title: string;
  readonly says: string;
  /** The value that rows are sorted by; rows without one come last. */
  readonly by: (row: MeasurementView) => number | string | null;
  readonly text: (row: MeasurementView) => string;
  readonly style?: string;
  /** The fainter text below it; in `estimate` the prediction. */
  readonly below?: (row: MeasurementView) => string;
  readonly estimate?: (row: MeasurementView) => string;
}

const COLUMNS: readonly Column[] = [
  {
    title: "time (95 %)",
    says: "Median of whole runs without compilation, and where it lies with 95 % confidence; below it what was predicted",
    by: (row) => row.median,
    text: (row) => secondsText(row.median),
    below: (row) => span(row.low, row.high) || (row.samples.length === 1 ? "1 run" : ""),
    estimate: (row) => (row.predicted_seconds === null ? "" : `≈ ${secondsText(row.predicted_seconds)}`),
  },
  {
    title: "against A",
    says: "Its time over the first one's, measured in turn with it",
    by: (row) => row.ratio,
    text: (row) => row.difference,
    style: "wbk-difference",
    below: (row) => (hasRatio(row.difference) ? ratios(row) : ""),
  },
  {
    title: "peak",
    says: "The most memory that the backend held; below it what was predicted",
    by: (row) => row.peak_bytes["device"] ?? null,
    text: (row) => bytesOf(row.peak_bytes["device"]),
    estimate: (row) => {
      const bytes = row.predicted_peak_bytes["device"];
      return bytes === undefined ? "" : `≈ ${bytesText(bytes)}`;
    },
  },
  {
    title: "host",
    says: "What it held in host memory at most",
    by: (row) => row.peak_bytes["host"] ?? null,
    text: (row) => bytesOf(row.peak_bytes["host"]),
  },
  {
    title: "compiler",
    says: "What the C compiler took, unless it had compiled this before; below it the time in which its text was generated",
    by: (row) => row.compiler_seconds,
    text: ({ compiler_seconds: took }) => (took === null ? "" : took === 0 ? "before" : secondsText(took)),
    below: (row) => (row.compiler_seconds === null ? "" : `${secondsText(generated(row))} generated`),
  },
];

const generated = (row: MeasurementView): number => Math.max(0, (row.compile_seconds ?? 0) - (row.compiler_seconds ?? 0));

const bytesOf = (count: number | undefined): string => (count ? bytesText(count) : "");

/** Formats both ends in the unit of the higher. */
function span(low: number | null, high: number | null): string {
  if (low === null || high === null) return "";
  const { unit, size } = timeUnit(high);
  return `${digits(low / size)}–${digits(high / size)} ${unit}`;
}

function ratios({ ratio_low: low, ratio_high: high }: MeasurementView): string {
  return low === null || high === null ? "" : ratiosText(low, high);
}

export function Rows({ rows }: { rows: readonly Lettered[] }): JSX.Element {
  const [order, setOrder] = useState<{ readonly column: number; readonly down: boolean } | null>(null);
  const columns = COLUMNS.filter((column) => rows.some(({ row }) => column.text(row)));
  const by = order === null ? undefined : columns[order.column]?.by;
  const shown = by ? sorted(rows, by, order?.down ?? false) : rows;
  const press = (column: number): void =>
    setOrder((now) => (now?.column !== column ? { column, down: false } : now.down ? null : { column, down: true }));
  return (
    <div className="wbk-rows">
      <table className="wbk-table">
        <thead>
          <tr>
            <th scope="col">variant</th>
            {columns.map((column, position) => (
              <th
                key={column.title}
                scope="col"
                className="wbk-number"
                aria-sort={order?.column !== position ? "none" : order.down ? "descending" : "ascending"}
              >
                <button type="button" title={column.says} onClick={() => press(position)}>
                  {column.title}
                  <span aria-hidden="true">{order?.column !== position ? "" : order.down ? " ▾" : " ▴"}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <One key={one.row.id} one={one} columns={columns} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function One({ one, columns }: { one: Lettered; columns: readonly Column[] }): JSX.Element {
  const { letter, name, row, series } = one;
  const { variants, sizes } = useWorkbench();
  const { status } = useValues();
  const store = useStore();
  const { measure } = useMeasure();
  const inTree = variants.some((variant) => variant.key === row.variant);
  const { badge, report } = useCheck(row, row.variant);
  const why = row.outcome === "failed" ? row.check : row.too_slow || row.stopped;
  return (
    <>
    <tr>
      <td>
        <div className="wbk-row-name">
        <b style={{ color: series.colour }}>{letter}</b>
        <button
          className="wbk-button wbk-link"
          type="button"
          disabled={!inTree || status === "disconnected"}
          title={inTree ? "Show this variant" : "This variant is not in the tree"}
          onClick={() => void store.ask({ type: "show", variant: row.variant }).catch(() => undefined)}
        >
          {name}
        </button>
        </div>
        <div className="wbk-row-marks">
          {badge}
          <Unfinished row={row} />
        </div>
      </td>
      {row.median === null ? (
        <td className={why ? "wbk-no-time" : "wbk-faint"} colSpan={columns.length}>
          {why || "its times follow"}{" "}
          {row.too_slow && status === "connected" && inTree && (
            <button
              className="wbk-button"
              type="button"
              onClick={() => measure([row.variant], { ...settingsOf(sizes, row), force: true })}
            >
              Measure it all the same
            </button>
          )}
        </td>
      ) : (
        columns.map((column) => (
          <td key={column.title} className={`wbk-number ${column.style ?? ""}`}>
            {column.text(row)}
            {column.below?.(row) && <div className="wbk-note">{column.below(row)}</div>}
            {column.estimate?.(row) && <div className="wbk-note wbk-estimate">{column.estimate(row)}</div>}
          </td>
        ))
      )}
    </tr>
    {report && (
      <tr className="wbk-check-row">
        <td colSpan={1 + columns.length}>{report}</td>
      </tr>
    )}
    </>
  );
}

/** Sorts rows in a stable order; rows without a value come last in both directions. */
export function sorted(rows: readonly Lettered[], by: Column["by"], down: boolean): readonly Lettered[] {
  const way = down ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [by(one.row), by(other.row)];
    if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
    return left === right ? 0 : left < right ? -way : way;
  });
}

type Cell = string | number | null | undefined;

const ms = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1e3);

/** The columns of `wb.compare`'s rows, then those of their origin. */
const FIELDS: readonly (readonly [string, (one: Lettered) => Cell])[] = [
  ["variant", ({ name }) => name],
  ["median_ms", ({ row }) => ms(row.median)],
  ["low_ms", ({ row }) => ms(row.low)],
  ["high_ms", ({ row }) => ms(row.high)],
  ["ratio", ({ row }) => row.ratio],
  ["ratio_low", ({ row }) => row.ratio_low],
  ["ratio_high", ({ row }) => row.ratio_high],
  ["difference", ({ row }) => row.difference],
  ["peak_device_bytes", ({ row }) => row.peak_bytes["device"]],
  ["peak_host_bytes", ({ row }) => row.peak_bytes["host"]],
  ["process_peak_bytes", ({ row }) => row.process_peak_bytes],
  ["predicted_ms", ({ row }) => ms(row.predicted_seconds)],
  ["predicted_peak_device_bytes", ({ row }) => row.predicted_peak_bytes["device"]],
  ["compile_s", ({ row }) => row.compile_seconds],
  ["compiler_s", ({ row }) => row.compiler_seconds],
  ["runs", ({ row }) => row.samples.length],
  ["planned_runs", ({ row }) => row.planned],
  ["checked", ({ row }) => row.checked],
  ["not_measured", ({ row }) => row.too_slow || row.stopped],
  ["recorded", ({ row }) => row.recorded],
  ["steps", ({ row }) => row.label],
  ["backend", ({ row }) => row.backend],
  ["threads", ({ row }) => row.threads],
  ["device", ({ row }) => row.device],
  ["dtype", ({ row }) => row.dtype],
  ["seed", ({ row }) => row.seed],
  ["sizes", ({ row }) => Object.entries(row.sizes).map(([name, value]) => `${name}=${value}`).join(" ")],
  ["date", ({ row }) => row.date],
];

/** Returns all data of the rows as CSV; empty where there is nothing (RFC 4180). */
export function csv(rows: readonly Lettered[]): string {
  const cell = (value: Cell): string => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [FIELDS.map(([name]) => name), ...rows.map((one) => FIELDS.map(([, of]) => cell(of(one))))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

export function CsvButtons({ rows, name }: { rows: readonly Lettered[]; name: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  return (
    <span className="wbk-bar-end">
      <button className="wbk-button" type="button" onClick={() => void copy(csv(rows)).then(() => setCopied(true))}>
        {copied ? "Copied" : "Copy CSV"}
      </button>{" "}
      <button className="wbk-button" type="button" onClick={() => download(`${name}.csv`, "text/csv", csv(rows))}>
        Download
      </button>
    </span>
  );
}
