// Bytes over the loop program as a stepped area: one memory space of the shown variant, others laid over it.

import { useRef, useState } from "react";
import type { Range } from "../../model/selection";
import type { MemoryView } from "../../protocol";
import { highestBetween, lastBefore, outline, spaceOf } from "./course";
import { bytesText } from "../../model/numbers";
import type { Series } from "../charts/series";
import { useWidth } from "../charts/width";

export interface Layer {
  readonly name: string;
  readonly view: MemoryView;
  readonly series: Series;
}

const HEIGHT = 150;
const LEFT = 58;
const RIGHT = 10;
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
  range: Range | null;
  choose: (range: Range | null) => void;
}): JSX.Element | null {
  const { space, layers, log, range, choose } = props;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const [hover, setHover] = useState<number | null>(null);
  const [start, setStart] = useState<number | null>(null);
  const [shown] = layers;
  if (!shown) return null;
  const { lines } = shown.view;
  const points = spaceOf(shown.view, space)?.points ?? [];
  const top = Math.max(1, ...layers.map(({ view }) => spaceOf(view, space)?.peak_bytes ?? 0));
  const inner = Math.max(width - LEFT - RIGHT, 1);
  const x = (line: number, of: number): number => LEFT + (line / Math.max(of, 1)) * inner;
  const y = (bytes: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share(bytes, top, log));
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
          height={HEIGHT}
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
          <Axis top={top} log={log} y={y} width={width} title={space} />
          {brushed && (
            <rect
              className="wbk-brushed"
              x={x(brushed.from, lines) - 1}
              width={Math.max(2, x(brushed.to, lines) - x(brushed.from, lines))}
              y={TOP}
              height={HEIGHT - TOP - BOTTOM}
            />
          )}
          {[...layers].reverse().map((layer) => (
            <Steps key={layer.name} layer={layer} space={space} scale={{ x, y }} filled={layer === shown} columns={inner} />
          ))}
          <Peak point={points[peak]} x={x} y={y} lines={lines} width={width} />
          {points[at] && (
            <circle className="wbk-hovered" cx={x(hover ?? 0, lines)} cy={y(points[at]?.bytes ?? 0)} r={4} />
          )}
        </svg>
      )}
      <p className="wbk-place" aria-hidden="true">
        {placeText(points[at] ?? points[peak], at < 0 ? "peak: " : "")}
      </p>
    </div>
  );
}

interface Held {
  readonly line: number;
  readonly text: string;
  readonly loops: readonly string[];
  readonly bytes: number;
}

function placeText(point: Held | undefined, before = ""): string {
  if (!point) return "nothing is held here";
  const around = point.loops.length ? `inside ${point.loops.map((one) => `for ${one}`).join(", ")}, ` : "";
  return `${before}${bytesText(point.bytes)}, ${around}line ${point.line + 1}: ${point.text}`;
}

export function peakOf(points: readonly Held[]): number {
  let found = 0;
  points.forEach((point, at) => {
    if (point.bytes > (points[found]?.bytes ?? 0)) found = at;
  });
  return found;
}

/** Returns the share of the height: of six powers of ten on a logarithmic scale. */
function share(bytes: number, top: number, log: boolean): number {
  if (!log) return bytes / top;
  const least = Math.max(1, top / 1e6);
  return bytes <= least ? 0 : Math.log(bytes / least) / Math.log(top / least);
}

function Steps(props: {
  layer: Layer;
  space: string;
  scale: Scale;
  filled: boolean;
  columns: number;
}): JSX.Element | null {
  const { layer, space, scale, filled, columns } = props;
  const found = spaceOf(layer.view, space);
  if (!found) return null;
  const { lines } = layer.view;
  const zero = scale.y(0);
  let path = `M${scale.x(0, lines)} ${zero}`;
  for (const corner of outline(found.points, lines, Math.floor(columns))) {
    const at = scale.x(corner.line, lines).toFixed(1);
    path += `H${at}V${scale.y(corner.highest).toFixed(1)}`;
    if (corner.last !== corner.highest) path += `V${scale.y(corner.last).toFixed(1)}`;
  }
  path += `H${scale.x(lines, lines)}`;
  const { colour, dash } = layer.series;
  return (
    <>
      {filled && <path d={`${path}V${zero}Z`} fill={colour} fillOpacity={0.18} />}
      <path d={path} fill="none" stroke={colour} strokeWidth={filled ? 1.8 : 1.4} strokeDasharray={dash} />
    </>
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
      <text x={LEFT} y={10}>
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
