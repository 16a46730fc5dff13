// The arrays that are held at a place, the largest first: how long, and until which last reader.

import { useState } from "react";
import { useSelection, useStore } from "../../model/hooks";
import { bytesText } from "../../model/numbers";
import type { Range } from "../../model/selection";
import type { BufferView, MemoryView } from "../../protocol";
import { type Band, colourOf } from "./bands";

/** The most arrays listed before the reader asks for more. */
const LISTED = 14;

export interface Place {
  readonly view: MemoryView;
  readonly bands: readonly Band[];
  /** The lines on which each array lives. */
  readonly spans: ReadonlyMap<number, Range>;
  /** The line of the place itself. */
  readonly line: number;
  readonly point: (buffers: readonly number[]) => void;
  readonly reduce: (array: string) => void;
}

export function Arrays({ place, listed }: { place: Place; listed: readonly number[] }): JSX.Element {
  const [more, setMore] = useState(false);
  const bytes = (one: number): number => place.view.arrays[one]?.bytes ?? 0;
  const known = [...listed].sort((one, other) => bytes(other) - bytes(one));
  const shown = more ? known : known.slice(0, LISTED);
  const rest = known.slice(shown.length);
  return (
    <>
      <table className="wbk-table wbk-buffers">
        <thead>
          <tr>
            <th scope="col">array</th>
            <th scope="col" className="wbk-number">
              bytes
            </th>
            <th scope="col">lives</th>
            <th scope="col">held until</th>
            <th scope="col" className="wbk-formula">
              as the sizes go
            </th>
            <th scope="col" aria-label="Reduce" />
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => {
            const buffer = place.view.arrays[one];
            return buffer && <Row key={one} place={place} one={one} buffer={buffer} />;
          })}
        </tbody>
      </table>
      {rest.length > 0 && (
        <button className="wbk-button wbk-link" type="button" onClick={() => setMore(true)}>
          {rest.length} more, together {bytesText(rest.reduce((sum, one) => sum + bytes(one), 0))}
        </button>
      )}
    </>
  );
}

function Row({ place, one, buffer }: { place: Place; one: number; buffer: BufferView }): JSX.Element {
  const store = useStore();
  const { statements } = useSelection();
  const { array } = buffer;
  const choose = (names: readonly string[]): void => store.select({ statements: names, scope: null, instance: null });
  const formula = buffer.formula.replace(/ bytes$/, "");
  return (
    <tr
      className={buffer.statements.some((name) => statements.includes(name)) ? "wbk-picked" : ""}
      onPointerEnter={() => place.point([one])}
      onPointerLeave={() => place.point([])}
      onFocus={() => place.point([one])}
      onBlur={() => place.point([])}
    >
      <td className="wbk-buffer-name">
        <span className="wbk-band-swatch" style={{ background: colourOf(place.bands, one) }} />
        {buffer.statements.length ? (
          <button className="wbk-button wbk-link" type="button" title={buffer.name} onClick={() => choose(buffer.statements)}>
            <Name text={buffer.name} />
          </button>
        ) : (
          <span title={buffer.name}>
            <Name text={buffer.name} />
          </span>
        )}
      </td>
      <td className="wbk-number" title={`${formula} bytes`}>
        {bytesText(buffer.bytes)}
      </td>
      <td className="wbk-life">
        <Life span={place.spans.get(one)} lines={place.view.lines} line={place.line} />
      </td>
      <td className="wbk-until" title={buffer.until}>
        <Until buffer={buffer} choose={choose} />
      </td>
      <td className="wbk-formula">
        <code>{formula}</code>
      </td>
      <td className="wbk-number">
        {array !== null && (
          <button
            className="wbk-button wbk-link"
            type="button"
            title={`The steps that make ${array} smaller`}
            aria-label={`Reduce ${array}`}
            onClick={() => place.reduce(array)}
          >
            Reduce
          </button>
        )}
      </td>
    </tr>
  );
}

/** The most characters at the end of a name that are shown before its beginning: they tell it from others. */
const END = 9;

/** A name of which the end stays to be read where there is no room for all. */
export function Name({ text }: { text: string }): JSX.Element {
  const cut = Math.max(text.lastIndexOf(".") + 1, text.length - END);
  return (
    <span className="wbk-cut-name">
      <span>{text.slice(0, cut)}</span>
      <span>{text.slice(cut)}</span>
    </span>
  );
}

/** The part of the schedule in which an array is held, and the place. */
function Life(props: { span: Range | undefined; lines: number; line: number }): JSX.Element | null {
  const { span, lines, line } = props;
  if (!span) return null;
  const share = (at: number): string => `${(100 * at) / Math.max(lines, 1)}%`;
  const said = `Held from line ${span.from + 1} to ${Math.min(span.to + 1, lines)} of ${lines}`;
  return (
    <svg role="img" aria-label={said}>
      <title>{said}</title>
      <rect x={share(span.from)} y="3" width={share(Math.max(span.to - span.from, lines / 60))} height="7" rx="1" />
      <line x1={share(line)} x2={share(line)} y1="0" y2="13" />
    </svg>
  );
}

/** The reason why it is held that long; the last reader leads to itself. */
function Until(props: { buffer: BufferView; choose: (names: readonly string[]) => void }): JSX.Element {
  const { until, last_reader: reader } = props.buffer;
  if (!reader || !until.endsWith(reader)) return <>{until}</>;
  return (
    <span className="wbk-until-reader">
      <span className="wbk-until-words">{until.slice(0, -reader.length)}</span>
      <button className="wbk-button wbk-link" type="button" onClick={() => props.choose([reader])}>
        <Name text={reader} />
      </button>
    </span>
  );
}
