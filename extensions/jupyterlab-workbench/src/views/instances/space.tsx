// Instances of a few statements as points, with their order of execution and the dependences between them.

import { useEffect, useId, useMemo, useRef, useState } from "react";
import { countText } from "../../model/numbers";
import type { DomainView, PointsView } from "../../protocol";
import {
  type Axes,
  bestAxes,
  coordinate,
  type Cuts,
  layout,
  type Line,
  RADIUS,
  type Spot,
  valuesOf,
  varying,
} from "./space-layout";

export interface Place {
  readonly statement: string;
  readonly coordinates: Readonly<Record<string, number>>;
}

/** An instance marked in the picture by a letter. */
export interface Named extends Place {
  readonly letter: string;
}

export interface SpaceProps {
  readonly space: DomainView;
  /** The meaning of the numbers in the points: "the order in which it runs now". */
  readonly orderSays: string;
  readonly named?: readonly Named[];
  readonly picked?: Place | null;
  readonly pick?: (statement: PointsView, point: number) => void;
}

export function Space(props: SpaceProps): JSX.Element {
  const { space, named = [] } = props;
  const first = useMemo(() => bestAxes(space, differing(named)), [space, named]);
  const [chosen, setChosen] = useState<Axes | null>(null);
  const [cut, setCut] = useState<Cuts>({});
  const dims = varying(space);
  const axes = chosen && dims.includes(chosen.x) && (!chosen.y || dims.includes(chosen.y)) ? chosen : first;
  const cuts = Object.fromEntries(
    dims
      .filter((dim) => dim !== axes.x && dim !== axes.y)
      .map((dim) => [dim, startOf(space, dim, cut[dim], named, props.picked ?? null)]),
  );
  return (
    <div className="wbk-space-view">
      {dims.length > 1 && <AxisChoice dims={dims} axes={axes} choose={setChosen} />}
      {Object.entries(cuts).map(([dim, value]) => (
        <Cut key={dim} dim={dim} value={value} values={valuesOf(space, dim)} set={(now) => setCut({ ...cut, [dim]: now })} />
      ))}
      <Picture {...props} axes={axes} cuts={cuts} />
    </div>
  );
}

/** Returns the dimensions in which the named instances differ. */
function differing(named: readonly Named[]): readonly string[] {
  const [one, other] = named;
  if (!one || !other) return [];
  return Object.keys(one.coordinates).filter(
    (dim) => dim in other.coordinates && one.coordinates[dim] !== other.coordinates[dim],
  );
}

function startOf(
  space: DomainView,
  dim: string,
  set: number | undefined,
  named: readonly Named[],
  picked: Place | null,
): number {
  const values = valuesOf(space, dim);
  const wanted = [set, picked?.coordinates[dim], ...named.map((one) => one.coordinates[dim])];
  return wanted.find((value) => value !== undefined && values.includes(value)) ?? values[0] ?? 0;
}

function AxisChoice(props: {
  dims: readonly string[];
  axes: Axes;
  choose: (axes: Axes) => void;
}): JSX.Element {
  const { dims, axes, choose } = props;
  return (
    <div className="wbk-axis-choice">
      <label>
        across{" "}
        <select
          value={axes.x}
          onChange={(event) => {
            const x = event.target.value;
            choose({ x, y: x === axes.y ? axes.x : axes.y });
          }}
        >
          {dims.map((dim) => (
            <option key={dim}>{dim}</option>
          ))}
        </select>
      </label>
      <label>
        down{" "}
        <select value={axes.y} onChange={(event) => choose({ x: axes.x, y: event.target.value })}>
          <option value="">nothing</option>
          {dims
            .filter((dim) => dim !== axes.x)
            .map((dim) => (
              <option key={dim}>{dim}</option>
            ))}
        </select>
      </label>
    </div>
  );
}

function Cut(props: {
  dim: string;
  value: number;
  values: readonly number[];
  set: (value: number) => void;
}): JSX.Element {
  const { dim, value, values, set } = props;
  return (
    <label className="wbk-cut">
      <span>
        {dim} = {value}
      </span>
      <input
        type="range"
        min={0}
        max={values.length - 1}
        value={values.indexOf(value)}
        onChange={(event) => set(values[Number(event.target.value)] ?? value)}
      />
    </label>
  );
}

function Picture(props: SpaceProps & { axes: Axes; cuts: Cuts }): JSX.Element {
  const { space, axes, cuts, named = [], picked = null, pick, orderSays } = props;
  const drawn = useMemo(() => layout(space, axes, cuts), [space, axes.x, axes.y, JSON.stringify(cuts)]);
  const [over, setOver] = useState<Spot | null>(null);
  const id = useId();
  const scroll = useRef<HTMLDivElement>(null);
  const shownFirst = drawn.spots.find((spot) => {
    const statement = space.statements[spot.statement];
    return statement && named.some((one) => isAt(one, statement, spot.point));
  });
  useEffect(() => {
    const place = scroll.current;
    if (place && shownFirst) place.scrollLeft = shownFirst.x - place.clientWidth / 2;
  }, [shownFirst]);
  const touched = (line: Line): boolean =>
    over !== null &&
    ((line.arrow.source_statement === over.statement && line.arrow.source === over.point) ||
      (line.arrow.sink_statement === over.statement && line.arrow.sink === over.point));
  const bottom = drawn.height - 18;
  const entry = drawn.spots.find((spot) => {
    const statement = space.statements[spot.statement];
    return statement && picked && isAt(picked, statement, spot.point);
  });
  return (
    <div className="wbk-space-scroll" ref={scroll}>
      <svg
        className={over ? "wbk-instances wbk-instances-over" : "wbk-instances"}
        style={{ "--wbk-crowd": crowd(drawn) } as React.CSSProperties}
        width={drawn.width}
        height={drawn.height}
        viewBox={`0 0 ${drawn.width} ${drawn.height}`}
        role={pick ? "group" : "img"}
        aria-label={summary(space)}
        onKeyDown={moveFocus}
      >
        <defs>
          <Head id={`${id}quiet`} name="wbk-head" />
          <Head id={`${id}broken`} name="wbk-head wbk-broken" />
        </defs>
        {drawn.bands.map((band) => (
          <g key={band.statement} className="wbk-instances-of">
            <rect x={1} y={band.top} width={drawn.width - 2} height={band.height} rx={4} />
            {band.rows.map((row) => (
              <text key={row.y} className="wbk-tick" x={9} y={row.y + 4}>
                {row.label}
              </text>
            ))}
          </g>
        ))}
        {drawn.columns.map((column) => (
          <text key={column.x} className="wbk-tick" x={column.x} y={bottom} textAnchor="middle">
            {column.label}
          </text>
        ))}
        <text className="wbk-axis-name" x={9} y={bottom}>
          {drawn.name}
        </text>
        {drawn.lines.map((line, position) => (
          <g
            key={position}
            className={[
              "wbk-arrow",
              line.arrow.violated ? "wbk-broken" : "",
              isBetween(space, line, named) ? "wbk-witness" : "",
              touched(line) ? "wbk-touched" : "",
            ].join(" ")}
          >
            <path d={line.path} markerEnd={`url(#${id}${line.arrow.violated ? "broken" : "quiet"})`} />
            {isBetween(space, line, named) && <path className="wbk-cross" d={cross(line.x, line.y)} />}
          </g>
        ))}
        {drawn.bands.map((band) => (
          <text key={band.statement} className="wbk-band-title" x={9} y={band.top + 17}>
            {space.statements[band.statement]?.title}
          </text>
        ))}
        {drawn.spots.map((spot, position) => {
          const statement = space.statements[spot.statement];
          return statement ? (
            <Instance
              key={`${spot.statement} ${spot.point}`}
              spot={spot}
              statement={statement}
              letter={named.find((one) => isAt(one, statement, spot.point))?.letter ?? ""}
              isPicked={picked !== null && isAt(picked, statement, spot.point)}
              isEntry={spot === entry || (!entry && position === 0)}
              over={setOver}
              {...(pick ? { pick } : {})}
            />
          ) : null;
        })}
      </svg>
      <p className="wbk-hint">
        {drawn.spots.some((spot) => spot.order !== null) && `Numbers: ${orderSays}; equal ones run as one array operation. `}
        {drawn.hidden > 0 &&
          `${drawn.hidden} dependence${drawn.hidden > 1 ? "s" : ""} with instances that are not shown. `}
        {space.remark && `${space.remark}.`}
      </p>
    </div>
  );
}

/** Returns the strength of an arrow: of many that overlap each is fainter. */
function crowd({ lines, spots }: ReturnType<typeof layout>): number {
  const each = lines.length / Math.max(1, spots.length);
  return Math.max(0.15, Math.min(1, 1.5 / Math.max(each, 1)));
}

function Head({ id, name }: { id: string; name: string }): JSX.Element {
  return (
    <marker id={id} viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" markerHeight="8" orient="auto" markerUnits="userSpaceOnUse">
      <path className={name} d="M0,0.8 L7,4 L0,7.2 Z" />
    </marker>
  );
}

function Instance(props: {
  spot: Spot;
  statement: PointsView;
  letter: string;
  isPicked: boolean;
  /** True if the tab key comes to it; arrow keys go on from there. */
  isEntry: boolean;
  over: (spot: Spot | null) => void;
  pick?: (statement: PointsView, point: number) => void;
}): JSX.Element {
  const { spot, statement, letter, isPicked, isEntry, over, pick } = props;
  const says = instanceText(statement, spot.point);
  const order = spot.order === null ? "" : `, place ${spot.order} in the order`;
  const states = [letter && "wbk-named", isPicked && "wbk-at", pick && "wbk-pickable"].filter(Boolean);
  return (
    <g
      className={["wbk-point", ...states].join(" ")}
      transform={`translate(${spot.x},${spot.y})`}
      onPointerEnter={() => over(spot)}
      onPointerLeave={() => over(null)}
      {...(pick && {
        role: "button",
        tabIndex: isEntry ? 0 : -1,
        "aria-pressed": isPicked,
        "aria-label": `${says}${order}`,
        onClick: () => pick(statement, spot.point),
        onFocus: () => over(spot),
        onBlur: () => over(null),
        onKeyDown: (event: React.KeyboardEvent) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          pick(statement, spot.point);
        },
      })}
    >
      <title>{`${says}${order}`}</title>
      {letter && <circle className="wbk-ring" r={RADIUS + 4} />}
      <circle className="wbk-disc" r={RADIUS} />
      <text className="wbk-order" y={3.5} textAnchor="middle">
        {spot.order ?? ""}
      </text>
      {letter && (
        <g transform={`translate(${-RADIUS - 1},${-RADIUS - 1})`}>
          <circle className="wbk-letter-back" r={7} />
          <text className="wbk-letter" y={3.5} textAnchor="middle">
            {letter}
          </text>
        </g>
      )}
    </g>
  );
}

/** Formats an instance: `gain[b=0, t=1]`, of a piece of an array `state[t + 1] at b=0, t=1`. */
export function instanceText(statement: PointsView, point: number): string {
  const inside = statement.dims.map((dim) => `${dim}=${coordinate(statement, point, dim)}`).join(", ");
  if (!inside) return statement.statement;
  return statement.statement.endsWith("]")
    ? `${statement.statement} at ${inside}`
    : `${statement.statement}[${inside}]`;
}

function isAt(place: Place, statement: PointsView, point: number): boolean {
  return (
    place.statement === statement.statement &&
    statement.dims.every((dim) => place.coordinates[dim] === coordinate(statement, point, dim))
  );
}

/** Tells whether a violated dependence is the one between the named instances. */
function isBetween(space: DomainView, { arrow }: Line, named: readonly Named[]): boolean {
  if (!arrow.violated || named.length < 2) return false;
  const [source, sink] = [space.statements[arrow.source_statement], space.statements[arrow.sink_statement]];
  if (!source || !sink) return false;
  return (
    named.some((one) => isAt(one, source, arrow.source)) && named.some((one) => isAt(one, sink, arrow.sink))
  );
}

export function summary(space: DomainView): string {
  const points = space.statements.map((one) => `${countText(one.points.length, "instance")} of ${one.title}`).join(", ");
  const broken = space.arrows.filter((arrow) => arrow.violated).length;
  return `${points}; ${countText(space.arrows.length, "dependence")}${broken ? `, ${broken} of them violated` : ""}`;
}

function cross(x: number, y: number): string {
  return `M${x - 4},${y - 4} L${x + 4},${y + 4} M${x - 4},${y + 4} L${x + 4},${y - 4}`;
}

/** Moves the focus by arrow key to the nearest point on that side. */
function moveFocus(event: React.KeyboardEvent<SVGSVGElement>): void {
  const steps: Readonly<Record<string, readonly [number, number]>> = {
    ArrowRight: [1, 0],
    ArrowLeft: [-1, 0],
    ArrowDown: [0, 1],
    ArrowUp: [0, -1],
  };
  const step = steps[event.key];
  const from = document.activeElement;
  if (!step || !(from instanceof SVGGElement)) return;
  const here = from.getBoundingClientRect();
  let best: SVGGElement | null = null;
  let least = Infinity;
  for (const other of event.currentTarget.querySelectorAll<SVGGElement>("[role=button]")) {
    const there = other.getBoundingClientRect();
    const [dx, dy] = [there.x - here.x, there.y - here.y];
    const along = dx * step[0] + dy * step[1];
    const across = Math.abs(dx * step[1]) + Math.abs(dy * step[0]);
    if (along > 1 && along + 3 * across < least) [best, least] = [other, along + 3 * across];
  }
  if (!best) return;
  event.preventDefault();
  event.stopPropagation();
  best.focus();
}
