// The meaning of the colours, lines and signs that the picture has.

import { useLayoutEffect, useRef, useState } from "react";
import type { Overlay } from "../model/selection";
import type { Kind, Snapshot } from "../protocol";
import type { Changes } from "./diff";
import { type Colouring, fill } from "./drawing/overlay";
import type { Theme } from "./drawing/theme";

/** The kinds of statements, with their names and what these mean. */
const NAMES: readonly (readonly [Kind, string, string])[] = [
  ["operation", "operation", "each element on its own"],
  ["contraction", "contraction", "sums of products, as of matrices"],
  ["reduction", "reduction", "a sum, mean or maximum over a range"],
  ["random", "random draw", "drawn numbers, the same in every order"],
  ["recurrence", "recurrence", "an array whose elements come of each other"],
  ["update", "update", "parameters of the next update"],
  ["external", "call of an external object", "what is computed outside of the program, as by Gymnasium"],
];

export function Legend(props: {
  readonly snapshot: Snapshot;
  readonly overlay: Overlay;
  readonly colouring: Colouring;
  readonly theme: Theme;
  /** The reason why nothing is coloured, and the origin of the numbers. */
  readonly note: string;
  readonly changes: Changes | null;
}): JSX.Element {
  const { snapshot, overlay, colouring, theme, note, changes } = props;
  const plain = snapshot.loops.find((loop) => /^[^[←▮/]+$/.test(loop.mark));
  const blocks = snapshot.loops.find((loop) => /^[^[▮]*\//.test(loop.mark));
  const apart = snapshot.loops.find((loop) => loop.mark.startsWith("▮"));
  const entries = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const hides = useHides(entries, open);
  const rows = open ? "" : colouring.ticks.length ? " wbk-one-row wbk-scaled" : " wbk-one-row";
  return (
    <div className="wbk-legend">
      <div className={`wbk-entries${rows}`} ref={entries}>
        {overlay === "kind" ? <Kinds snapshot={snapshot} /> : <Scale colouring={colouring} theme={theme} overlay={overlay} />}
        {note && <span className="wbk-entry wbk-note">{note}</span>}
        {snapshot.nodes.some((node) => node.outputs.length) && <Entry swatch="wbk-swatch wbk-result" name="output" />}
        {snapshot.edges.some((edge) => edge.carried) && <Entry swatch="wbk-dash" name="carried by a loop" />}
        {changes && changes.changed.size + changes.gone.length > 0 && (
          <Entry swatch="wbk-swatch wbk-boxed" name={changedText(changes)} />
        )}
        {snapshot.loops.length > 0 && (
          <span className="wbk-entry wbk-marks" title="The loops around a statement, outermost first">
            {plain && (
              <>
                <code>{plain.mark}</code> in a loop
              </>
            )}
            {snapshot.loops.some((loop) => loop.mark.includes("←")) && (
              <>
                {" "}
                <code>←t</code> backwards
              </>
            )}
            {snapshot.loops.some((loop) => loop.mark.startsWith("[")) && (
              <>
                {" "}
                <code>[b]</code> as an array axis
              </>
            )}
            {blocks && (
              <>
                {" "}
                <code>{blocks.mark}</code> in blocks one by one
              </>
            )}
            {apart && (
              <>
                {" "}
                <code>{apart.mark}</code> in blocks that run at once
              </>
            )}
            {snapshot.nodes.some((node) => node.kept.some((text) => text !== "host")) && (
              <>
                {" "}
                <code>2 of T</code> kept of an array; <code>+2</code> two more, which the box tells
              </>
            )}
            {snapshot.nodes.some((node) => node.kept.includes("host")) && (
              <>
                {" "}
                <code>host</code> kept in host memory
              </>
            )}
          </span>
        )}
        <span className="wbk-keys">{keys(snapshot)}</span>
      </div>
      {(open || hides) && (
        <button
          className="wbk-button wbk-link"
          type="button"
          aria-expanded={open}
          title={open ? "Show one row of the legend" : "Show the whole legend"}
          onClick={() => setOpen(!open)}
        >
          {open ? "Less" : "More"}
        </button>
      )}
    </div>
  );
}

/** Tells whether the one row that is shown is not all. */
function useHides(entries: React.RefObject<HTMLElement>, open: boolean): boolean {
  const [hides, setHides] = useState(false);
  useLayoutEffect(() => {
    const row = entries.current;
    if (!row || open) return undefined;
    // It tells at first too, once the page is laid out: to ask now would have it laid out for this alone.
    const observer = new ResizeObserver(() => setHides(row.scrollHeight > row.clientHeight + 4));
    for (const one of [row, ...row.children]) observer.observe(one);
    return () => observer.disconnect();
  });
  return hides;
}

function Kinds({ snapshot }: { snapshot: Snapshot }): JSX.Element {
  const present = new Set(snapshot.nodes.map((node) => node.kind));
  return (
    <>
      {NAMES.filter(([kind]) => present.has(kind)).map(([kind, name, says]) => (
        <Entry key={kind} swatch={`wbk-swatch ${kind}`} name={name} says={says} />
      ))}
    </>
  );
}

function Scale({ colouring, theme, overlay }: { colouring: Colouring; theme: Theme; overlay: Overlay }): JSX.Element | null {
  if (!colouring.ticks.length) return null;
  const lowest = overlay === "measured" ? -1 : 0;
  const colours = Array.from({ length: 9 }, (_, at) => fill(lowest + ((1 - lowest) * at) / 8, theme));
  return (
    <span className="wbk-entry wbk-scale">
      <span className="wbk-scale-bar" style={{ background: `linear-gradient(to right, ${colours.join(", ")})` }} />
      <span className="wbk-scale-ticks">
        {colouring.ticks.map((tick) => (
          <span key={tick}>{tick}</span>
        ))}
      </span>
    </span>
  );
}

function changedText({ changed, gone }: Changes): string {
  const parts = [
    ...(changed.size ? [`changed by the last step (${changed.size})`] : []),
    ...(gone.length ? [`${gone.length} gone`] : []),
  ];
  return parts.join(", ");
}

function keys(snapshot: Snapshot): string {
  const scopes = snapshot.nodes.some((node) => node.scope.length);
  const wheel = `${navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl"} + wheel zooms`;
  const always = [wheel, "arrows move", "Enter selects", "E reads its arrows"];
  return [...(scopes ? ["Double click opens a scope, C closes it"] : []), ...always].join(" · ");
}

function Entry({ swatch, name, says }: { swatch: string; name: string; says?: string }): JSX.Element {
  return (
    <span className="wbk-entry" {...(says && { title: says })}>
      <span className={swatch} />
      {name}
    </span>
  );
}
