// Memory: the arrays that are held over the schedule, from where to where and for whom, and steps that reduce one.

import { useCallback, useEffect, useMemo, useState } from "react";
import { useCurrent, usePart, useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { pathName } from "../../model/naming";
import { bytesText, onThreads, peaksText, sizesText } from "../../model/numbers";
import type { Brushed, Range, Touching } from "../../model/selection";
import type { MemoryView } from "../../protocol";
import { Waiting } from "../../waiting";
import { seriesIn } from "../charts/series";
import { Arrays } from "./arrays";
import { type Band, bandsOf } from "./bands";
import { highestBetween, liveAt, liveBetween, loopSpans, peakOf, spaceOf, spansOf } from "./course";
import { OtherPeaks } from "./other-peaks";
import { peakOfMemory } from "./peaks";
import { Reduce } from "./reduce";
import { Peak, Unchanged } from "./reduced";
import { type Layer, Timeline } from "./timeline";

/** What touches nothing. */
const NOTHING: Touching = { transform: "", source: "", statements: [], arrays: [], dims: [] };

export function Memory(): JSX.Element {
  const { sizes, backend, dtype } = useSelection();
  const loaded = usePart("memory", { sizes, backend, dtype });
  if (!loaded.value) return <Waiting loaded={loaded} what="the course of its memory" />;
  if (!loaded.value.spaces.length) return <p className="wbk-hint">Nothing is held at these sizes.</p>;
  return <Shown view={loaded.value} />;
}

function Shown({ view }: { view: MemoryView }): JSX.Element {
  const current = useCurrent();
  const store = useStore();
  const layers = useLayers(view);
  const [asked, setLog] = useState<boolean | null>(null);
  const log = asked ?? isWide(layers);
  const { brushed } = useSelection();
  const [reducing, setReducing] = useState<string | null>(null);
  const [pointed, point] = usePointed(view);
  const picked = usePicked(view);
  const bands = useMemo(() => new Map(view.spaces.map(({ space }) => [space, bandsOf(view, space)])), [view]);
  const known = reducing === null ? undefined : view.arrays.find(({ array }) => array === reducing);
  const reduce = (array: string): void => {
    point([]); // its row is gone without a word
    setReducing(array);
  };

  const choose = (space: string, range: Range | null): void => {
    const points = spaceOf(view, space)?.points ?? [];
    const live = range ? [...liveBetween(points, range.from, range.to)] : [];
    const arrays = live.map((at) => view.arrays[at]?.array ?? null).filter((name) => name !== null);
    store.select({
      brushed: range && { variant: current.key, space, range, arrays: [...new Set(arrays)].sort() },
    });
  };
  return (
    <div className="wbk-view wbk-memory">
      <div className="wbk-bar">
        <Peak view={view} />
        <Unchanged />
        {layers.length > 1 && (
          <label
            className="wbk-field wbk-bar-end"
            title="A logarithmic axis has room for variants that differ by much; it shows sums, without their arrays"
          >
            <input type="checkbox" checked={log} onChange={(event) => setLog(event.target.checked)} />
            logarithmic
          </label>
        )}
      </div>
      <div className="wbk-memory-parts">
        {known?.array && <Reduce array={known.array} buffer={known} leave={() => setReducing(null)} />}
        <div className="wbk-memory-course">
          {layers.length > 1 && <Legend layers={layers} />}
          {view.spaces.map(({ space }) => (
            <Timeline
              key={space}
              space={space}
              layers={layers}
              log={log}
              bands={bands.get(space) ?? []}
              marked={pointed.size ? pointed : picked}
              range={brushed?.space === space ? brushed.range : null}
              choose={(range) => choose(space, range)}
              point={point}
              said={saidOf(view, pointed)}
            />
          ))}
          <Loops view={view} />
        </div>
        {!known?.array && (
          <div>
            <Live
              view={view}
              chosen={brushed}
              bands={bands}
              picked={picked}
              point={point}
              reduce={reduce}
              clear={() => choose("", null)}
            />
          </div>
        )}
      </div>
      <h4>Peak{view.spaces.length > 1 && " of the device"}, as the sizes go</h4>
      <pre className="wbk-code">{view.peak_formula}</pre>
      <p className="wbk-note">
        {view.beside > 0 && "A block's arrays are there for each thread. "}
        {[sizesText(view.sizes) && `At ${sizesText(view.sizes)}`, view.dtype, `on ${onThreads(view)}`].filter(Boolean).join(", ")}; one iteration stands for all of a loop.
        {layers.length === 1 && " Variants that are ticked under Variants are laid over this one."}
      </p>
      <OtherPeaks here={peakOfMemory(view)} variant={current.key} />
    </div>
  );
}

/** Returns the arrays under the pointer or the focus, and sets them: the graph lights what they are of. */
function usePointed(view: MemoryView): readonly [ReadonlySet<number>, (buffers: readonly number[]) => void] {
  const store = useStore();
  const [pointed, setPointed] = useState<ReadonlySet<number>>(new Set());
  const point = useCallback(
    (buffers: readonly number[]): void => {
      setPointed(new Set(buffers));
      const known = buffers.flatMap((one) => view.arrays[one] ?? []);
      const statements = [...new Set(known.flatMap((buffer) => buffer.statements))];
      store.select({ pointed: statements.length ? { ...NOTHING, statements } : null });
    },
    [store, view],
  );
  useEffect(() => () => store.select({ pointed: null }), [store]); // what is left lights nothing
  return [pointed, point];
}

/** Returns the arrays of the selected statements. */
function usePicked(view: MemoryView): ReadonlySet<number> {
  const { statements } = useSelection();
  return useMemo(() => {
    const chosen = view.arrays.flatMap((one, at) => (one.statements.some((name) => statements.includes(name)) ? [at] : []));
    return new Set(chosen);
  }, [view, statements]);
}

/** Formats the arrays under the pointer: `state, 819 kB: `. */
function saidOf(view: MemoryView, pointed: ReadonlySet<number>): string {
  const known = [...pointed].flatMap((one) => view.arrays[one] ?? []);
  const [first] = known;
  if (!first) return "";
  const bytes = known.reduce((sum, one) => sum + one.bytes, 0);
  return `${known.length === 1 ? first.name : `${known.length} smaller arrays`}, ${bytesText(bytes)}: `;
}

/** Returns the shown variant first, then those that are ticked and loaded. */
function useLayers(view: MemoryView): readonly Layer[] {
  const state = useWorkbench();
  const { compared, sizes, backend, dtype } = useSelection();
  const current = useCurrent();
  const store = useStore();
  useValues();
  const layers: Layer[] = [{ name: pathName(current, state.variants), view, series: seriesIn(state, current.key) }];
  for (const key of compared) {
    const variant = state.variants.find((one) => one.key === key);
    if (!variant || key === current.key) continue;
    const { value } = store.part("memory", key, { sizes, backend, dtype });
    if (value) layers.push({ name: pathName(variant, state.variants), view: value, series: seriesIn(state, key) });
  }
  return layers;
}

/** Tells whether a layer laid over would be lost on a linear scale. */
function isWide(layers: readonly Layer[]): boolean {
  const peaks = layers.map(({ view }) => Math.max(1, ...view.spaces.map((space) => space.peak_bytes)));
  return Math.max(...peaks) > 25 * Math.min(...peaks);
}

function Legend({ layers }: { layers: readonly Layer[] }): JSX.Element {
  return (
    <ul className="wbk-series wbk-layers">
      {layers.map(({ name, view, series: { colour, dash } }) => (
        <li key={name}>
          <svg width="22" height="8" aria-hidden="true">
            <path d="M0 4H22" stroke={colour} strokeWidth="3" strokeDasharray={dash} />
          </svg>
          <span className="wbk-series-name">{name}</span>
          <span className="wbk-count">
            peak {peaksText(Object.fromEntries(view.spaces.map(({ space, peak_bytes }) => [space, peak_bytes])))}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The loops below the places where they run. */
function Loops({ view }: { view: MemoryView }): JSX.Element | null {
  const spans = loopSpans(view);
  if (!spans.length) return null;
  const depth = Math.max(...spans.map((span) => span.depth)) + 1;
  return (
    <div className="wbk-loops" style={{ height: 15 * depth }} aria-hidden="true">
      {spans.map((span) => (
        <span
          key={`${span.depth} ${span.from}`}
          title={`for ${span.variable}: lines ${span.from + 1} to ${span.to + 1}`}
          style={{
            left: `${(100 * span.from) / view.lines}%`,
            width: `${(100 * Math.max(1, span.to - span.from)) / view.lines}%`,
            top: 15 * span.depth,
          }}
        >
          {span.variable}
        </span>
      ))}
    </div>
  );
}

/** The arrays that live at the clicked place, at the highest of the brushed ones, or at the peak before either. */
function Live(props: {
  view: MemoryView;
  chosen: Brushed | null;
  bands: ReadonlyMap<string, readonly Band[]>;
  picked: ReadonlySet<number>;
  point: (buffers: readonly number[]) => void;
  reduce: (array: string) => void;
  clear: () => void;
}): JSX.Element | null {
  const { view, chosen, bands, picked, point, reduce, clear } = props;
  const store = useStore();
  const space = spaceOf(view, chosen?.space ?? view.spaces[0]?.space ?? "");
  const spans = useMemo(() => spansOf(space?.points ?? [], view.lines), [space, view]);
  if (!space) return null;
  const { points } = space;
  const at = chosen ? highestBetween(points, chosen.range.from, chosen.range.to) : peakOf(points);
  const here = liveAt(points, at);
  const all = chosen ? liveBetween(points, chosen.range.from, chosen.range.to) : here;
  const elsewhere = [...new Set([...all, ...picked])].filter((one) => !here.has(one) && spans.has(one));
  const there = points[at];
  const brushed = chosen && chosen.range.to > chosen.range.from;
  const title = chosen ? (brushed ? "Live at the highest place of it" : "Live there") : "Live at the peak";
  const place = { view, bands: bands.get(space.space) ?? [], spans, line: there?.line ?? 0, point, reduce };
  return (
    <>
      <div className="wbk-bar wbk-live-head">
        <h4>
          {title}: {bytesText(there?.bytes ?? 0)}
          {view.spaces.length > 1 && ` on the ${space.space}`}
        </h4>
        {there && (
          <button
            className="wbk-button wbk-link"
            type="button"
            onClick={() => store.select({ line: there.line, level: "loops", pane: "code" })}
          >
            line {there.line + 1} in the loops
          </button>
        )}
        {chosen && (
          <button className="wbk-button wbk-link wbk-bar-end" type="button" onClick={clear}>
            back to the peak
          </button>
        )}
      </div>
      <Arrays place={place} listed={[...here]} key={`${chosen?.range.from} ${at}`} />
      {elsewhere.length > 0 && !brushed && (
        <>
          <h4>Selected, and not live there</h4>
          <Arrays place={place} listed={elsewhere} />
        </>
      )}
      {elsewhere.length > 0 && brushed && (
        <>
          <h4>Live elsewhere in the brushed part</h4>
          <Arrays place={place} listed={elsewhere} />
        </>
      )}
    </>
  );
}
