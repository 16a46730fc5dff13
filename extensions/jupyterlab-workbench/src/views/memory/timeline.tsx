// Bytes over the loop program: one memory space of the shown variant, a stack of its arrays, others laid over it.

import { useRef, useState } from "react";
import type { Range } from "../../model/selection";
import type { MemoryView } from "../../protocol";
import { type Band, stacked } from "./bands";
import { type Corner, highestBetween, lastBefore, outline, peakOf, spaceOf } from "./course";
import { bytesText } from "../../model/numbers";
import type { Series } from "../charts/series";
import { usePaneHeight, useWidth } from "../charts/width";

export interface Layer {
  readonly name: string;
  readonly view: MemoryView;
  readonly series: Series;
}

/** The height of a chart, and that of one in a low pane, where the arrays are to be seen too. */
const [HEIGHT, LOW] = [132, 88];
/** The height from which on a pane is not low. */
const ROOM = 480;
export const LEFT = 58;
export const RIGHT = 10;
const TOP = 16;
const BOTTOM = 4;

export interface Scale {
  readonly x: (line: number, lines: number) => number;
  readonly y: (bytes: number) => number;
}

export function Timeline(props: {
  space: string;
  layers: readonly Layer[];
  log: boolean;
  bands: readonly Band[];
  /** The arrays that stand out, as positions in `MemoryView.arrays`: all where there are none. */
  marked: ReadonlySet<number>;
  range: Range | null;
  choose: (range: Range | null) => void;
  /** Hears of the arrays under the pointer. */
  point: (buffers: readonly number[]) => void;
  /** What is said of these, in front of the place. */
  said: string;
}): JSX.Element | null {
  const { space, layers, log, bands, marked, range, choose, point } = props;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const room = usePaneHeight(host);
  const [hover, setHover] = useState<number | null>(null);
  const [start, setStart] = useState<number | null>(null);
  const [shown] = layers;
  if (!shown) return null;
  const { lines } = shown.view;
  const points = spaceOf(shown.view, space)?.points ?? [];
  const top = Math.max(1, ...layers.map(({ view }) => spaceOf(view, space)?.peak_bytes ?? 0));
  const height = room < ROOM ? LOW : HEIGHT;
  const inner = Math.max(width - LEFT - RIGHT, 1);
  const x = (line: number, of: number): number => LEFT + (line / Math.max(of, 1)) * inner;
  const y = (bytes: number): number => TOP + (height - TOP - BOTTOM) * (1 - share(bytes, top, log));
  const lineAt = (client: number): number => {
    const left = host.current?.getBoundingClientRect().left ?? 0;
    return Math.min(lines, Math.max(0, ((client - left - LEFT) / inner) * lines));
  };
  const pixel = lines / inner;
  const at = hover === null ? -1 : highestBetween(points, hover - pixel / 2, hover + pixel / 2);
  const peak = peakOf(points);

  const move = (event: React.PointerEvent): void => setHover(lineAt(event.clientX));
  const up = (event: React.PointerEvent): void => {
    if (start === null) return;
    const end = lineAt(event.clientX);
    const [from, to] = start < end ? [start, end] : [end, start];
    // a click means the place under it; the most held within its pixel
    const place = points[highestBetween(points, end - pixel / 2, end + pixel / 2)]?.line ?? end;
    choose(to - from < 3 * pixel ? { from: place, to: place } : { from, to });
    setStart(null);
  };
  const step = (event: React.KeyboardEvent): void => {
    const now = lastBefore(points, hover ?? range?.from ?? -1);
    const next = points[now + ({ ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 }[event.key] ?? 0)];
    if (event.key === "Escape") choose(null);
    else if (event.key === "Enter" && hover !== null) choose({ from: hover, to: hover });
    else if (event.key.startsWith("Arrow") || event.key.startsWith("Page")) setHover(next?.line ?? hover);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const brushed = start !== null && hover !== null ? { from: Math.min(start, hover), to: Math.max(start, hover) } : range;
  return (
    <div className="wbk-timeline" ref={host}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="slider"
          tabIndex={0}
          aria-label={`${space} memory over the loop program`}
          aria-valuemin={0}
          aria-valuemax={lines}
          aria-valuenow={Math.round(hover ?? range?.from ?? 0)}
          aria-valuetext={placeText(points[at] ?? points[peak])}
          onPointerMove={move}
          onPointerLeave={() => start === null && setHover(null)}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setStart(lineAt(event.clientX));
          }}
          onPointerUp={up}
          onKeyDown={step}
        >
          <Axis top={top} log={log} y={y} width={width} title={shown.view.spaces.length > 1 ? space : "held"} />
          {!log && (
            <Stack
              view={shown.view}
              space={space}
              bands={bands}
              marked={marked}
              scale={{ x, y }}
              columns={inner}
              point={point}
            />
          )}
          {brushed && (
            <rect
              className="wbk-brushed"
              x={x(brushed.from, lines) - 1}
              width={Math.max(2, x(brushed.to, lines) - x(brushed.from, lines))}
              y={TOP}
              height={height - TOP - BOTTOM}
            />
          )}
          {[...layers].reverse().map((layer) => (
            <Steps
              key={layer.name}
              layer={layer}
              space={space}
              scale={{ x, y }}
              stacked={!log && layers.length === 1}
              filled={log && layer === shown}
              columns={inner}
            />
          ))}
          <Peak point={points[peak]} x={x} y={y} lines={lines} width={width} />
          {points[at] && (
            <circle className="wbk-hovered" cx={x(hover ?? 0, lines)} cy={y(points[at]?.bytes ?? 0)} r={4} />
          )}
        </svg>
      )}
      {points[at] && (
        <p className="wbk-place" aria-hidden="true">
          {props.said}
          {placeText(points[at])}
        </p>
      )}
    </div>
  );
}

interface Held {
  readonly line: number;
  readonly text: string;
  readonly loops: readonly string[];
  readonly bytes: number;
}

function placeText(point: Held | undefined): string {
  if (!point) return "nothing is held here";
  const around = point.loops.length ? `inside ${point.loops.map((one) => `for ${one}`).join(", ")}, ` : "";
  return `${bytesText(point.bytes)}, ${around}line ${point.line + 1}: ${point.text}`;
}

/** Returns the share of the height: of six powers of ten on a logarithmic scale. */
function share(bytes: number, top: number, log: boolean): number {
  if (!log) return bytes / top;
  const least = Math.max(1, top / 1e6);
  return bytes <= least ? 0 : Math.log(bytes / least) / Math.log(top / least);
}

/** The arrays as areas, each painted over those that reach higher. */
function Stack(props: {
  view: MemoryView;
  space: string;
  bands: readonly Band[];
  marked: ReadonlySet<number>;
  scale: Scale;
  columns: number;
  point: (buffers: readonly number[]) => void;
}): JSX.Element {
  const { view, space, bands, marked, scale, columns, point } = props;
  const corners = outline(spaceOf(view, space)?.points ?? [], view.lines, Math.floor(columns));
  const tops = stacked(view, space, bands);
  const isMarked = ({ buffers }: Band): boolean => buffers.some((one) => marked.has(one));
  const any = bands.some(isMarked); // what stands out may live in another space
  const areas = bands.map((band, place) => {
    const own = corners.map(({ line, highestAt, lastAt }) => ({
      line,
      highest: tops[place]?.[highestAt] ?? 0,
      last: tops[place]?.[lastAt] ?? 0,
    }));
    const stands = !any || isMarked(band);
    return (
      <path
        key={place}
        className={stands ? "wbk-band" : "wbk-band wbk-behind"}
        d={`${steps(own, view.lines, scale)}V${scale.y(0)}Z`}
        style={{ color: band.colour }}
        onPointerEnter={() => point(band.buffers)}
        onPointerLeave={() => point([])}
      />
    );
  });
  return <g className="wbk-bands">{areas.reverse()}</g>;
}

function steps(corners: readonly Pick<Corner, "line" | "highest" | "last">[], lines: number, scale: Scale): string {
  let path = `M${scale.x(0, lines)} ${scale.y(0)}`;
  for (const { line, highest, last } of corners) {
    path += `H${scale.x(line, lines).toFixed(1)}V${scale.y(highest).toFixed(1)}`;
    if (last !== highest) path += `V${scale.y(last).toFixed(1)}`;
  }
  return `${path}H${scale.x(lines, lines)}`;
}

function Steps(props: {
  layer: Layer;
  space: string;
  scale: Scale;
  /** Over a stack of its arrays: a thin line that no variant's is taken for. */
  stacked: boolean;
  filled: boolean;
  columns: number;
}): JSX.Element | null {
  const { layer, space, scale, filled, columns } = props;
  const found = spaceOf(layer.view, space);
  if (!found) return null;
  const { lines } = layer.view;
  const path = steps(outline(found.points, lines, Math.floor(columns)), lines, scale);
  const { colour, dash } = layer.series;
  return (
    <g className={props.stacked ? "wbk-total wbk-over-stack" : "wbk-total"}>
      {filled && <path d={`${path}V${scale.y(0)}Z`} fill={colour} fillOpacity={0.18} />}
      <path d={path} fill="none" stroke={colour} strokeWidth={filled ? 1.8 : 1.4} strokeDasharray={dash} />
    </g>
  );
}

function Axis(props: {
  top: number;
  log: boolean;
  y: (bytes: number) => number;
  width: number;
  title: string;
}): JSX.Element {
  const { top, log, y, width, title } = props;
  return (
    <g className="wbk-axis">
      {ticks(top, log).map((bytes) => (
        <g key={bytes}>
          <line x1={LEFT} x2={width - RIGHT} y1={y(bytes)} y2={y(bytes)} />
          <text x={LEFT - 5} y={y(bytes)} dy="0.32em" textAnchor="end">
            {bytes ? bytesText(bytes) : "0"}
          </text>
        </g>
      ))}
      <text x={LEFT - 5} y={10} textAnchor="end">
        {title}
      </text>
    </g>
  );
}

/** Returns round numbers of bytes: three or four of them, or powers of a hundred. */
export function ticks(top: number, log: boolean): readonly number[] {
  if (log) {
    const highest = Math.floor(Math.log10(top));
    return [0, -2, -4].map((down) => 10 ** (highest + down)).filter((bytes) => bytes >= Math.max(1, top / 1e6));
  }
  const rough = top / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, k) => k * step);
}

function Peak(props: {
  point: Held | undefined;
  x: (line: number, lines: number) => number;
  y: (bytes: number) => number;
  lines: number;
  width: number;
}): JSX.Element | null {
  const { point, x, y, lines, width } = props;
  if (!point) return null;
  const at = x(point.line, lines);
  const right = at < width - 100;
  return (
    <g className="wbk-peak">
      <path d={`M${at - 4} ${y(point.bytes) - 7}h8l-4 6Z`} />
      <text x={at + (right ? 7 : -7)} y={y(point.bytes) - 3} textAnchor={right ? "start" : "end"}>
        {bytesText(point.bytes)}
      </text>
    </g>
  );
}
