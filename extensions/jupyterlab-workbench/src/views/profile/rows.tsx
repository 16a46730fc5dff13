// The rows of a profile as a table, by kernel, statement or scope, the longest first.

import { useState } from "react";
import { useSelection } from "../../model/hooks";
import { amountText, bytesText, percent, secondsText } from "../../model/numbers";
import { type Pair, paired, rowsBy, type Way } from "../../model/profiled";
import type { PeaksView, ProfileRowView, ProfileView } from "../../protocol";
import type { Colours } from "./colours";
import { RowName } from "./row-name";
import { changeText, holds, timeText } from "./text";
import { ToText } from "./ways";

/** The most rows that are shown before the reader asks for more. */
const LISTED = 20;

const WAYS: readonly Way[] = ["kernel", "statement", "scope"];

export function Rows(props: {
  shown: ProfileView;
  other: ProfileView | undefined;
  name: string;
  colours: Colours;
}): JSX.Element {
  const { shown, other, name, colours } = props;
  const ways = WAYS.filter((one) => rowsBy(shown, one).length > 0);
  const [asked, setAsked] = useState<Way>("statement");
  const [more, setMore] = useState(false);
  const { statements } = useSelection();
  const way = ways.includes(asked) ? asked : "statement";
  const pairs = paired(rowsBy(shown, way), other ? rowsBy(other, way) : []);
  // What is selected in the graph is looked for here too.
  const isListed = ({ row }: Pair, at: number): boolean => more || at < LISTED || (row !== null && holds(row, statements));
  const listed = pairs.filter(isListed);
  const rest = pairs.filter((pair, at) => !isListed(pair, at)).reduce((sum, { row }) => sum + (row?.seconds ?? 0), 0);
  const columns = 5 + (shown.predicted_seconds === null ? 0 : 1) + (other ? 1 : 0);
  return (
    <>
      <div className="wbk-bar">
        <h4>By</h4>
        <div className="wbk-segments" role="group" aria-label="Rows by">
          {ways.map((one) => (
            <button key={one} type="button" aria-pressed={one === way} onClick={() => setAsked(one)}>
              {one}
            </button>
          ))}
        </div>
      </div>
      <div className="wbk-rows wbk-profile-rows">
        <table className="wbk-table">
          <thead>
            <tr>
              <th scope="col">{way}</th>
              <th scope="col" className="wbk-number" title="Seconds of the run, and below their share of it">
                time
                <div className="wbk-note">share</div>
              </th>
              {shown.predicted_seconds !== null && (
                <th scope="col" className="wbk-number" title="The seconds that were predicted; – where they are not told apart">
                  predicted
                </th>
              )}
              {other && (
                <th scope="col" className="wbk-number" title={`The time here less that of ${name}`}>
                  against
                </th>
              )}
              <th scope="col" className="wbk-number" title="Launches of a kernel, executions of a statement">
                calls
              </th>
              <th scope="col" className="wbk-number" title="Operations of arithmetic; below it, of what the machine does at most">
                FLOP
                {shown.peaks && <div className="wbk-note">of peak</div>}
              </th>
              <th scope="col" className="wbk-number" title="Bytes read and written; below it, of what the machine does at most with memory as near">
                bytes
                {shown.peaks && <div className="wbk-note">of peak</div>}
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.map((pair) => (
              <Line key={pair.name} pair={pair} way={way} shown={shown} other={other} colours={colours} />
            ))}
            {pairs.length > listed.length && (
              <tr>
                <td colSpan={columns}>
                  <button className="wbk-button wbk-link" type="button" onClick={() => setMore(true)}>
                    {pairs.length - listed.length} more, together {secondsText(rest)}, {percent(rest / shown.seconds)}
                  </button>
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Line(props: {
  pair: Pair;
  way: Way;
  shown: ProfileView;
  other: ProfileView | undefined;
  colours: Colours;
}): JSX.Element {
  const { pair: { name, row, other: before }, way, shown, other, colours } = props;
  const { statements } = useSelection();
  const change = (row?.seconds ?? 0) - (before?.seconds ?? 0);
  return (
    <tr className={row && holds(row, statements) ? "wbk-picked" : ""}>
      <td>
        <div className="wbk-profile-name">
          <span className="wbk-scope-dot" style={{ background: colours((row ?? before)?.scope ?? "") }} title={(row ?? before)?.scope} />
          <RowName name={name} row={row} />
        </div>
        <div className="wbk-profile-more">
          {way === "kernel" && row && row.statements.length > 0 && (
            <ToText kernel={name} statements={row.statements} backend={shown.backend} />
          )}
          {row?.uncertain && (
            <span className="wbk-uncertain" title="Two builds do not agree on how its kernel's time is divided">
              uncertain
            </span>
          )}
        </div>
      </td>
      <td className="wbk-number">
        {row ? timeText(row) : "–"}
        {row && <div className="wbk-note">{percent(row.seconds / shown.seconds)}</div>}
      </td>
      {shown.predicted_seconds !== null && (
        <td className="wbk-number">{row && row.predicted !== null ? secondsText(row.predicted) : "–"}</td>
      )}
      {other && <td className={`wbk-number ${change > 0 ? "wbk-slower" : change < 0 ? "wbk-faster" : ""}`}>{changeText(change)}</td>}
      <td className="wbk-number">{row ? amountText(row.calls, "").trim() : ""}</td>
      <Amount row={row} peaks={shown.peaks} what="flops" />
      <Amount row={row} peaks={shown.peaks} what="bytes" />
    </tr>
  );
}

/** What a row did, and below it the share of the machine's peak. */
function Amount(props: { row: ProfileRowView | null; peaks: PeaksView | null; what: "flops" | "bytes" }): JSX.Element {
  const { row, peaks, what } = props;
  if (!row?.[what]) return <td />;
  const peak = what === "flops" ? peaks?.flops_per_second : row.bytes_peak;
  const text = what === "flops" ? amountText(row.flops, "").trim() : bytesText(row.bytes);
  return (
    <td className="wbk-number">
      {text}
      {peak && row.seconds > 0 ? <div className="wbk-note">{percent(row[what] / row.seconds / peak)}</div> : null}
    </td>
  );
}
