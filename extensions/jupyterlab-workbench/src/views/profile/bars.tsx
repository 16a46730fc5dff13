// A bar for each scope of a profile, with its prediction and the other profile's bar.

import { useSelection } from "../../model/hooks";
import { percent, secondsText } from "../../model/numbers";
import { paired } from "../../model/profiled";
import type { ProfileView } from "../../protocol";
import type { Colours } from "./colours";
import { RowName } from "./row-name";
import { holds, timeText } from "./text";

export function Bars(props: {
  shown: ProfileView;
  other: ProfileView | undefined;
  /** The name of the other one's variant. */
  name: string;
  colours: Colours;
}): JSX.Element {
  const { shown, other, name, colours } = props;
  const { statements } = useSelection();
  const pairs = paired(shown.scopes, other?.scopes ?? []);
  const all = pairs.flatMap(({ row, other }) => [row?.seconds ?? 0, row?.predicted ?? 0, other?.seconds ?? 0]);
  const most = Math.max(...all, 1e-12);
  const width = (seconds: number): string => `${(100 * seconds) / most}%`;
  return (
    <>
      <h4>By scope</h4>
      <ul className="wbk-scope-bars" aria-label="Seconds by scope">
        {pairs.map(({ name: scope, row, other: before }) => (
          <li key={scope} className={row && holds(row, statements) ? "wbk-picked" : ""}>
            <RowName name={scope} row={row} />
            <span
              className="wbk-scope-track"
              title={[
                row && `${timeText(row)}, ${percent(row.seconds / shown.seconds)}`,
                row && row.predicted !== null && `predicted ${secondsText(row.predicted)}`,
                before && `${name}: ${timeText(before)}`,
              ]
                .filter(Boolean)
                .join("\n")}
            >
              {row && <span className="wbk-measured" style={{ width: width(row.seconds), background: colours(row.scope) }} />}
              {before && <span className="wbk-before" style={{ width: width(before.seconds), borderColor: colours(before.scope) }} />}
              {row && row.predicted !== null && <span className="wbk-mark" style={{ left: width(row.predicted) }} />}
            </span>
            <span className="wbk-scope-time">{row ? timeText(row) : "–"}</span>
            <span className="wbk-scope-share">{row ? percent(row.seconds / shown.seconds) : ""}</span>
          </li>
        ))}
      </ul>
      <p className="wbk-note wbk-bars-legend">
        {pairs.some(({ row }) => row && row.predicted !== null) && (
          <span>
            <span className="wbk-mark" /> predicted
          </span>
        )}
        {other && (
          <span>
            <span className="wbk-before" /> {name}
          </span>
        )}
        {pairs.some(({ row }) => row?.approximate) && <span>≈ shared out by counted work</span>}
      </p>
    </>
  );
}
