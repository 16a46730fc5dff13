// The roofline: operations in a second over operations a byte, both logarithmic, with a dot for each kernel or else
// statement, below what the machine does at most with its nearest memory and its farthest (Williams, Waterman and
// Patterson 2009).

import { useRef, useState } from "react";
import { useSelection, useStore } from "../../model/hooks";
import { amountText, digits, percent } from "../../model/numbers";
import type { PeaksView, ProfileRowView, ProfileView } from "../../protocol";
import { useWidth } from "../charts/width";
import type { Colours } from "./colours";
import { holds, timeText } from "./text";

const HEIGHT = 260;
const [LEFT, RIGHT, TOP, BOTTOM] = [76, 14, 12, 40];

export interface Dot {
  readonly row: ProfileRowView;
  /** Operations a byte, and operations a second. */
  readonly intensity: number;
  readonly rate: number;
}

/** Returns the rows that have a place, the longest first. */
export function dotsOf({ kernels, statements }: ProfileView): readonly Dot[] {
  return (kernels.length ? kernels : statements)
    .filter(({ flops, bytes, seconds }) => flops > 0 && bytes > 0 && seconds > 0)
    .map((row) => ({ row, intensity: row.flops / row.bytes, rate: row.flops / row.seconds }));
}

/** Returns the most operations of a second at so many operations a byte, of memory that gives so many in a second. */
export const roofAt = (peaks: PeaksView, bytes: number, intensity: number): number =>
  Math.min(peaks.flops_per_second, bytes * intensity);

/** Returns whole powers of ten around numbers, as exponents. */
export function decades(numbers: readonly number[]): readonly [number, number] {
  const low = Math.floor(Math.log10(Math.min(...numbers)));
  return [low, Math.max(low + 1, Math.ceil(Math.log10(Math.max(...numbers))))];
}

export function Roofline({ shown, colours }: { shown: ProfileView; colours: Colours }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const [hovered, setHovered] = useState<Dot | null>(null);
  const store = useStore();
  const { statements } = useSelection();
  const dots = dotsOf(shown);
  const what = shown.kernels.length ? "kernel" : "statement";
  const picked = dots.find(({ row }) => holds(row, statements)) ?? null;
  const told = hovered ?? picked;
  return (
    <>
      <h4>Roofline, a dot a {what}</h4>
      {dots.length === 0 ? (
        <p className="wbk-hint">No {what} has arithmetic and bytes that are counted.</p>
      ) : (
        <div className="wbk-roofline" ref={host}>
          {width > 0 && (
            <Picture
              width={width}
              dots={dots}
              shown={shown}
              colours={colours}
              hovered={told}
              hover={setHovered}
              choose={({ row }) => store.select({ statements: row.statements, scope: null, instance: null })}
            />
          )}
          <p className="wbk-about" aria-hidden="true">
            {told ? dotText(told, shown) : "Larger dots took longer. A click selects what a dot computes."}
          </p>
        </div>
      )}
    </>
  );
}

export function dotText({ row, intensity, rate }: Dot, { seconds, peaks }: ProfileView): string {
  const peak = row.bytes_peak;
  const roof = peaks && peak !== null ? `, ${roofText(peaks, peak, intensity, rate)}` : "";
  const share = percent(row.seconds / seconds);
  return `${row.name}: ${timeText(row)}, ${share}; ${amountText(rate, "FLOP/s")} at ${digits(intensity)} FLOP/byte${roof}`;
}

/** Tells how near a rate is to the lower of the two roofs, and which that is. */
function roofText(peaks: PeaksView, bytes: number, intensity: number, rate: number): string {
  const roof = roofAt(peaks, bytes, intensity);
  const of =
    roof < peaks.flops_per_second
      ? `what memory of ${amountText(bytes, "B/s")} allows`
      : `the machine's ${amountText(roof, "FLOP/s")}`;
  return `${percent(rate / roof)} of ${of}`;
}

function Picture(props: {
  width: number;
  dots: readonly Dot[];
  shown: ProfileView;
  colours: Colours;
  hovered: Dot | null;
  hover: (dot: Dot | null) => void;
  choose: (dot: Dot) => void;
}): JSX.Element {
  const { width, dots, shown, colours, hovered, hover, choose } = props;
  const { peaks } = shown;
  const { statements } = useSelection();
  const memories = peaks ? [...new Set([peaks.nearest_bytes_per_second, peaks.farthest_bytes_per_second])] : [];
  const ridge = peaks ? memories.map((bytes) => peaks.flops_per_second / bytes) : [];
  const [left, right] = decades([...dots.map(({ intensity }) => intensity), ...ridge.map((one) => one * 2)]);
  const rates = [...dots.map(({ rate }) => rate), ...(peaks ? [peaks.flops_per_second * 1.2] : [])];
  const [low, high] = decades(rates);
  const x = (value: number): number => LEFT + ((Math.log10(value) - left) / (right - left)) * (width - LEFT - RIGHT);
  const y = (value: number): number => TOP + (1 - (Math.log10(value) - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const roofs = peaks
    ? memories.map((bytes) => roofIn(peaks.flops_per_second, bytes, x, y, [10 ** left, 10 ** right], 10 ** low))
    : [];
  const longest = Math.max(...dots.map(({ row }) => row.seconds));
  const radius = ({ row }: Dot): number => 3 + 8 * Math.sqrt(row.seconds / longest);
  return (
    <svg width={width} height={HEIGHT} role="img" aria-label="Roofline: operations in a second over operations a byte">
      <g className="wbk-axis">
        {exponents(low, high, 6).map((at) => (
          <g key={at} transform={`translate(0 ${y(10 ** at)})`}>
            <line x1={LEFT} x2={width - RIGHT} />
            <text x={LEFT - 6} dy="0.32em" textAnchor="end">
              {amountText(10 ** at, "FLOP/s")}
            </text>
          </g>
        ))}
        {exponents(left, right, Math.max(2, Math.floor(width / 70))).map((at) => (
          <g key={at} transform={`translate(${x(10 ** at)} 0)`}>
            <line y1={TOP} y2={HEIGHT - BOTTOM} />
            <text y={HEIGHT - BOTTOM + 15} textAnchor="middle">
              {at < 0 ? (10 ** at).toFixed(-at) : amountText(10 ** at, "").trim()}
            </text>
          </g>
        ))}
        <text x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 5} textAnchor="middle">
          FLOP/byte
        </text>
      </g>
      {roofs.map(({ path }, at) => (
        <path key={at} className="wbk-roof" d={path} />
      ))}
      <g>
        {dots.map((dot) => (
          <circle
            key={dot.row.name}
            className={[
              "wbk-dot",
              holds(dot.row, statements) ? "wbk-dot-picked" : "",
              dot === hovered ? "wbk-dot-hovered" : "",
            ].join(" ")}
            cx={x(dot.intensity)}
            cy={y(dot.rate)}
            r={radius(dot)}
            style={{ fill: colours(dot.row.scope) }}
            onPointerEnter={() => hover(dot)}
            onPointerLeave={() => hover(null)}
            onClick={() => choose(dot)}
          />
        ))}
      </g>
      {peaks && roofs[0] && (
        <g className="wbk-roof-labels">
          <text x={width - RIGHT - 4} y={roofs[0].top - 5} textAnchor="end">
            {amountText(peaks.flops_per_second, "FLOP/s")}
          </text>
          {roofs.map(({ bytes, x: from, y: height, slope }, at) => (
            <text key={at} transform={`translate(${from} ${height}) rotate(${slope})`} dx={4} dy={at === 0 ? -5 : 12}>
              {amountText(bytes, "B/s")}
              {at === 0 ? ", nearest memory" : ", farthest"}
            </text>
          ))}
        </g>
      )}
    </svg>
  );
}

/** Lists exponents from one to another, of many every second or third. */
function exponents(from: number, to: number, most: number): readonly number[] {
  const step = Math.max(1, Math.ceil((to - from) / most));
  return Array.from({ length: to - from + 1 }, (_, at) => from + at).filter((at) => (at - from) % step === 0);
}

interface Roof {
  readonly path: string;
  /** The bytes in a second of its memory. */
  readonly bytes: number;
  /** Where it begins, and by how many degrees it rises. */
  readonly x: number;
  readonly y: number;
  readonly slope: number;
  /** The height of its level part. */
  readonly top: number;
}

/** Returns the roof of a memory between two numbers of operations a byte, from the lowest rate on. */
function roofIn(
  flops: number,
  bytes: number,
  x: (intensity: number) => number,
  y: (rate: number) => number,
  [left, right]: readonly [number, number],
  lowest: number,
): Roof {
  const ridge = flops / bytes;
  const start = Math.max(left, lowest / bytes);
  const [x0, y0, x1, y1] = [x(start), y(bytes * start), x(ridge), y(flops)];
  const slope = (Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI;
  return { bytes, path: `M${x0},${y0}L${x1},${y1}H${x(right)}`, x: x0, y: y0, slope, top: y1 };
}
