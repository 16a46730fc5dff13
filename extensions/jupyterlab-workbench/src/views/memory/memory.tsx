// Memory: bytes over the schedule, the arrays that live at a place, and their growth with the sizes.

import { useState } from "react";
import { useCurrent, usePart, useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import type { Brushed, Range } from "../../model/selection";
import { Waiting } from "../../waiting";
import type { BufferView, MemoryView } from "../../protocol";
import { highestBetween, liveAt, liveBetween, loopSpans, spaceOf } from "./course";
import { bytesText, sizesText } from "../../model/numbers";
import { seriesIn } from "../charts/series";
import { type Layer, peakOf, Timeline } from "./timeline";

/** The most arrays listed before the reader asks for more. */
const LISTED = 14;

export function Memory(): JSX.Element {
  const { sizes, dtype } = useSelection();
  const current = useCurrent();
  const loaded = usePart("memory", { sizes, dtype });
  const layers = useLayers(loaded.value);
  const [asked, setLog] = useState<boolean | null>(null);
  const log = asked ?? isWide(layers);
  const { brushed } = useSelection();
  const store = useStore();
  const view = loaded.value;
  if (!view) return <Waiting loaded={loaded} what="the course of its memory" />;

  const choose = (space: string, range: Range | null): void => {
    const points = spaceOf(view, space)?.points ?? [];
    const live = range ? [...liveBetween(points, range.from, range.to)] : [];
    const arrays = live.map((at) => view.arrays[at]?.array ?? null).filter((name) => name !== null);
    store.select({
      brushed: range && { variant: current.key, space, range, arrays: [...new Set(arrays)].sort() },
    });
  };
  return (
    <div className="wbk-view">
      <div className="wbk-bar">
        <span className="wbk-note">
          At {sizesText(view.sizes)}, {view.dtype}; one iteration stands for all of a loop.
        </span>
        <label className="wbk-field wbk-bar-end">
          <input type="checkbox" checked={log} onChange={(event) => setLog(event.target.checked)} />
          logarithmic
        </label>
      </div>
      <Legend layers={layers} />
      {view.spaces.map(({ space }) => (
        <Timeline
          key={space}
          space={space}
          layers={layers}
          log={log}
          range={brushed?.space === space ? brushed.range : null}
          choose={(range) => choose(space, range)}
        />
      ))}
      <Loops view={view} />
      <Live view={view} chosen={brushed} clear={() => choose("", null)} />
      <h4>Peak of the device, as the sizes go</h4>
      <pre className="wbk-code">{view.peak_formula}</pre>
    </div>
  );
}

/** Returns the shown variant first, then those that are ticked and loaded. */
function useLayers(view: MemoryView | null): readonly Layer[] {
  const state = useWorkbench();
  const { compared, sizes, dtype } = useSelection();
  const current = useCurrent();
  const store = useStore();
  useValues();
  if (!view) return [];
  const layers: Layer[] = [{ name: current.name, view, series: seriesIn(state, current.key) }];
  for (const key of compared) {
    const variant = state.variants.find((one) => one.key === key);
    if (!variant || key === current.key) continue;
    const { value } = store.part("memory", key, { sizes, dtype });
    if (value) layers.push({ name: variant.name, view: value, series: seriesIn(state, key) });
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
            peak {view.spaces.map(({ space, peak_bytes }) => `${bytesText(peak_bytes)} ${space}`).join(", ")}
          </span>
        </li>
      ))}
      {layers.length === 1 && <li className="wbk-note">Tick variants to lay them over this one.</li>}
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
function Live(props: { view: MemoryView; chosen: Brushed | null; clear: () => void }): JSX.Element | null {
  const { view, chosen, clear } = props;
  const store = useStore();
  const space = spaceOf(view, chosen?.space ?? view.spaces[0]?.space ?? "");
  if (!space) return <p className="wbk-hint">Nothing is held at these sizes.</p>;
  const { points } = space;
  const at = chosen ? highestBetween(points, chosen.range.from, chosen.range.to) : peakOf(points);
  const here = liveAt(points, at);
  const all = chosen ? liveBetween(points, chosen.range.from, chosen.range.to) : here;
  const point = points[at];
  const brushed = chosen && chosen.range.to > chosen.range.from;
  const title = chosen ? (brushed ? "Live at the highest place of it" : "Live there") : "Live at the peak";
  return (
    <>
      <div className="wbk-bar wbk-live-head">
        <h4>
          {title}: {bytesText(point?.bytes ?? 0)} {space.space}
        </h4>
        {point && (
          <button
            className="wbk-button wbk-link"
            type="button"
            onClick={() => store.select({ line: point.line, level: "loops", pane: "code" })}
          >
            line {point.line + 1} in the loops
          </button>
        )}
        {chosen && (
          <button className="wbk-button wbk-link wbk-bar-end" type="button" onClick={clear}>
            back to the peak
          </button>
        )}
      </div>
      <Buffers buffers={[...here].map((one) => view.arrays[one])} key={`${chosen?.range.from} ${at}`} />
      {all.size > here.size && (
        <>
          <h4>Live elsewhere in the brushed part</h4>
          <Buffers buffers={[...all].filter((one) => !here.has(one)).map((one) => view.arrays[one])} />
        </>
      )}
    </>
  );
}

function Buffers({ buffers }: { buffers: readonly (BufferView | undefined)[] }): JSX.Element {
  const [more, setMore] = useState(false);
  const store = useStore();
  const { statements } = useSelection();
  const known = buffers.filter((one) => one !== undefined).sort((one, other) => other.bytes - one.bytes);
  const shown = more ? known : known.slice(0, LISTED);
  const rest = known.slice(shown.length);
  return (
    <table className="wbk-table wbk-buffers">
      <thead>
        <tr>
          <th scope="col">array</th>
          <th scope="col" className="wbk-number">
            bytes
          </th>
          <th scope="col">as the sizes go</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((buffer, position) => (
          <tr key={position} className={buffer.statements.some((one) => statements.includes(one)) ? "wbk-picked" : ""}>
            <td>
              <button
                className="wbk-button wbk-link"
                type="button"
                disabled={!buffer.statements.length}
                onClick={() => store.select({ statements: buffer.statements, scope: null, instance: null })}
              >
                {buffer.name}
              </button>
            </td>
            <td className="wbk-number">{bytesText(buffer.bytes)}</td>
            <td>
              <code>{buffer.formula.replace(/ bytes$/, "")}</code>
            </td>
          </tr>
        ))}
        {rest.length > 0 && (
          <tr>
            <td colSpan={3}>
              <button className="wbk-button wbk-link" type="button" onClick={() => setMore(true)}>
                {rest.length} more, together {bytesText(rest.reduce((sum, one) => sum + one.bytes, 0))}
              </button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
