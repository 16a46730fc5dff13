// The course of a profiled run: lanes of loops, and of kernels or else statements, on a time axis, and below them the
// bytes that are held, on the same axis. What was predicted is an outline.

import { useRef, useState } from "react";
import { useSelection, useStore } from "../../model/hooks";
import { bytesText, percent, secondsText } from "../../model/numbers";
import type { CourseView, LaneView, ProfileView } from "../../protocol";
import { useWidth } from "../charts/width";
import type { Colours } from "./colours";
import { type Level, levelsOf, moved, type Sight, type Span, spansOf, timesIn, wholeSight, zoomed } from "./lanes";
import { Ways } from "./ways";
import { inRoom } from "./text";

const [ROW, GAP, TOP, MEMORY] = [15, 3, 18, 62];
/** The widths of names and of the text of times at the right end. */
const [NARROW, WIDE, RIGHT] = [96, 190, 10];

interface Pointed {
  readonly lane: LaneView;
  readonly span: Span;
}

export function Course({ shown, colours }: { shown: ProfileView; colours: Colours }): JSX.Element | null {
  const { course } = shown;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const [seen, setSeen] = useState<Sight | null>(null);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [chosen, setChosen] = useState<Pointed | null>(null);
  const store = useStore();
  if (!course) return null;
  const whole = wholeSight(course);
  const sight = seen ?? whole;
  const choose = (one: Pointed): void => {
    setChosen(one);
    if (!one.lane.is_loop && one.lane.statements.length) {
      store.select({ statements: one.lane.statements, scope: null, instance: null, kernel: one.lane.name });
    }
  };
  const told = pointed ?? chosen;
  return (
    <>
      <div className="wbk-bar wbk-course-head">
        <h4>{course.whole ? "The run in time" : "Its first iterations in time"}</h4>
        <span className="wbk-note" title="Looking at it takes time too, and other programs may have run beside it">
          {secondsText(course.seconds)} as recorded; the run takes {secondsText(shown.untimed_seconds)}
        </span>
        <span className="wbk-bar-end wbk-course-zoom" role="group" aria-label="Time axis">
          <Zoom label="Closer" text="+" use={() => setSeen(zoomed(sight, 1 / 2, (sight.from + sight.to) / 2, whole))} />
          <Zoom label="Farther" text="−" use={() => setSeen(zoomed(sight, 2, (sight.from + sight.to) / 2, whole))} />
          <Zoom label="All of it" text="All" use={() => setSeen(null)} />
        </span>
      </div>
      <div className="wbk-course" ref={host}>
        {width > 0 && (
          <Picture
            course={course}
            width={width}
            sight={sight}
            look={setSeen}
            pointed={told}
            point={setPointed}
            choose={choose}
            colours={colours}
          />
        )}
      </div>
      <p className="wbk-about" aria-hidden="true">
        {told ? spanText(told, course) : "A click goes to what ran. Outlines are predicted; pale spans hold many launches."}
      </p>
      {chosen && !chosen.lane.is_loop && <Ways lane={chosen.lane} backend={shown.backend} />}
    </>
  );
}

function Zoom({ label, text, use }: { label: string; text: string; use: () => void }): JSX.Element {
  return (
    <button className="wbk-button" type="button" aria-label={label} title={label} onClick={use}>
      {text}
    </button>
  );
}

/** Tells what a span is. */
export function spanText({ lane, span }: Pointed, { tick }: CourseView): string {
  const long = secondsText((span.end - span.begin) * tick);
  const predicted = span.predicted === null ? "" : `, predicted ${secondsText(span.predicted * tick)}`;
  const at = `at ${secondsText(span.begin * tick)}`;
  if (lane.is_loop) return `iteration ${span.count} of ${lane.name}, ${at}: ${long}${predicted}`;
  if (span.count === 1) return `${lane.name}, ${at}: ${secondsText((span.end - span.begin) * span.busy * tick)}${predicted}`;
  return `${lane.name}, ${at}: ${span.count} launches in ${long}, ${percent(span.busy)} of it${predicted}`;
}

function Picture(props: {
  course: CourseView;
  width: number;
  sight: Sight;
  look: (sight: Sight | null) => void;
  pointed: Pointed | null;
  point: (pointed: Pointed | null) => void;
  choose: (pointed: Pointed) => void;
  colours: Colours;
}): JSX.Element {
  const { course, width, sight, look, pointed, point, choose, colours } = props;
  const { statements } = useSelection();
  const drag = useRef<number | null>(null);
  const left = Math.min(WIDE, Math.max(NARROW, width * 0.28));
  const inner = Math.max(width - left - RIGHT, 1);
  const whole = wholeSight(course);
  const x = (tick: number): number => left + ((tick - sight.from) / (sight.to - sight.from)) * inner;
  const tickAt = (client: number, box: DOMRect): number =>
    sight.from + ((client - box.left - left) / inner) * (sight.to - sight.from);
  const lanes = TOP + course.lanes.length * (ROW + GAP);
  const height = lanes + MEMORY + 24;
  const keys = (event: React.KeyboardEvent): void => {
    const width = sight.to - sight.from;
    if (event.key === "ArrowRight") look(moved(sight, width / 8, whole));
    else if (event.key === "ArrowLeft") look(moved(sight, -width / 8, whole));
    else if (event.key === "+" || event.key === "=") look(zoomed(sight, 1 / 2, (sight.from + sight.to) / 2, whole));
    else if (event.key === "-") look(zoomed(sight, 2, (sight.from + sight.to) / 2, whole));
    else if (event.key === "0") look(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <svg
      width={width}
      height={height}
      role="group"
      tabIndex={0}
      aria-label="The course of the run: lanes by loop and by what ran. Arrows move, plus and minus zoom, 0 shows all."
      onKeyDown={keys}
      onPointerDown={(event) => (drag.current = event.clientX)}
      onPointerMove={(event) => {
        if (drag.current === null || event.buttons !== 1) return;
        const by = ((drag.current - event.clientX) / inner) * (sight.to - sight.from);
        if (Math.abs(drag.current - event.clientX) < 3) return;
        drag.current = event.clientX;
        look(moved(sight, by, whole));
      }}
      onPointerUp={() => (drag.current = null)}
      onWheel={(event) => {
        if (!event.ctrlKey && !event.metaKey) return; // the pane scrolls
        look(zoomed(sight, event.deltaY > 0 ? 1.25 : 0.8, tickAt(event.clientX, event.currentTarget.getBoundingClientRect()), whole));
      }}
    >
      <clipPath id="wbk-course-inside">
        <rect x={left} y={0} width={inner} height={height} />
      </clipPath>
      <g className="wbk-axis">
        {timesIn(sight, course.tick, Math.max(2, Math.floor(inner / 90))).map((seconds) => (
          <g key={seconds} transform={`translate(${x(seconds / course.tick)} 0)`}>
            <line y1={TOP - 4} y2={lanes + MEMORY} />
            <text y={TOP - 7} textAnchor="middle">
              {seconds ? secondsText(seconds) : "0"}
            </text>
          </g>
        ))}
      </g>
      {course.lanes.map((lane, at) => (
        <Lane
          key={`${at} ${lane.name}`}
          lane={lane}
          y={TOP + at * (ROW + GAP)}
          left={left}
          right={left + inner}
          x={x}
          sight={sight}
          colour={lane.is_loop ? "var(--wbk-faint)" : colours(lane.scope)}
          picked={lane.statements.some((one) => statements.includes(one))}
          pointed={pointed?.lane === lane ? pointed.span.begin : null}
          point={point}
          choose={choose}
        />
      ))}
      <Memory levels={levelsOf(course)} x={x} y={lanes} left={left} width={inner} />
    </svg>
  );
}

function Lane(props: {
  lane: LaneView;
  y: number;
  left: number;
  right: number;
  x: (tick: number) => number;
  sight: Sight;
  colour: string;
  picked: boolean;
  /** The begin of the span that is told of, where it is in this lane. */
  pointed: number | null;
  point: (pointed: Pointed | null) => void;
  choose: (pointed: Pointed) => void;
}): JSX.Element {
  const { lane, y, left, right, x, sight, colour, picked, pointed, point, choose } = props;
  const all = spansOf(lane);
  const spans = all.filter(({ begin, end }) => end >= sight.from && begin <= sight.to);
  const [first] = all;
  const indent = 10 * lane.depth;
  const room = Math.max(4, Math.floor((left - indent - 8) / 6.4));
  const name = lane.is_loop ? `for ${lane.name}` : lane.name;
  const say = lane.is_loop ? name : `${name}: ${percent(lane.share)} of the time shown`;
  return (
    <g className={picked ? "wbk-lane wbk-lane-picked" : "wbk-lane"}>
      <rect className="wbk-lane-ground" x={0} y={y - 1} width={right} height={ROW + 2} />
      <text
        className={lane.is_loop ? "wbk-lane-name wbk-lane-loop" : "wbk-lane-name"}
        x={indent + 2}
        y={y + ROW - 4}
        role={lane.statements.length ? "button" : undefined}
        tabIndex={lane.statements.length ? 0 : undefined}
        onClick={() => first && choose({ lane, span: first })}
        onKeyDown={(event) => {
          if (first && (event.key === "Enter" || event.key === " ")) {
            event.preventDefault();
            choose({ lane, span: first });
          }
        }}
      >
        <title>{say}</title>
        {inRoom(name, room)}
      </text>
      <g clipPath="url(#wbk-course-inside)">
        {spans.map((span) => {
          const [from, to] = [x(span.begin), x(span.end)];
          const long = span.predicted === null ? 0 : x(span.begin + span.predicted) - from;
          return (
            <g
              key={span.begin}
              onPointerEnter={() => point({ lane, span })}
              onPointerLeave={() => point(null)}
              onClick={() => choose({ lane, span })}
            >
              <rect
                className={pointed === span.begin ? "wbk-span wbk-span-pointed" : "wbk-span"}
                x={from}
                y={y + (lane.is_loop ? 3 : 1)}
                width={Math.max(to - from - (to - from > 4 ? 0.8 : 0), 0.8)}
                height={lane.is_loop ? ROW - 6 : ROW - 2}
                fill={colour}
                fillOpacity={lane.is_loop ? 0.35 : 0.3 + 0.65 * span.busy}
              />
              {long > 3 && <rect className="wbk-outline" x={from} y={y + 0.5} width={long} height={ROW - 1} />}
              {lane.is_loop && to - from > 26 && (
                <text className="wbk-lane-value" x={Math.max(from, left) + 4} y={y + ROW - 4}>
                  {span.count}
                </text>
              )}
            </g>
          );
        })}
      </g>
    </g>
  );
}

function Memory(props: {
  levels: readonly Level[];
  x: (tick: number) => number;
  y: number;
  left: number;
  width: number;
}): JSX.Element | null {
  const { levels, x, y, left, width } = props;
  const most = Math.max(0, ...levels.map(({ bytes }) => bytes));
  if (!most) return null;
  const [top, bottom] = [y + 16, y + MEMORY];
  const height = (bytes: number): number => bottom - (bytes / most) * (bottom - top);
  const steps = levels.map(({ begin, end, bytes }) => `H${x(begin).toFixed(1)}V${height(bytes).toFixed(1)}H${x(end).toFixed(1)}`);
  const start = x(levels[0]?.begin ?? 0).toFixed(1);
  const outline = `M${start} ${bottom}${steps.join("")}`;
  return (
    <g className="wbk-course-memory">
      <text className="wbk-lane-name" x={2} y={top + 8}>
        memory held
      </text>
      <text className="wbk-lane-name wbk-lane-loop" x={2} y={top + 22}>
        at most {bytesText(most)}
      </text>
      <line x1={left} x2={left + width} y1={bottom} y2={bottom} />
      <g clipPath="url(#wbk-course-inside)">
        <path className="wbk-held-ground" d={`${outline}V${bottom}Z`} />
        <path className="wbk-held" d={outline} />
      </g>
    </g>
  );
}
