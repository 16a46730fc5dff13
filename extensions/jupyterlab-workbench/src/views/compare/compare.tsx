// Compare: variants measured in turn, beside each other and beside their predictions.

import { useEffect, useMemo, useState } from "react";
import { useWorkbench } from "../../model/hooks";
import type { MeasurementView } from "../../protocol";
import { lettered, type Lettered } from "./letters";
import { MeasureForm } from "./measure";
import { type Comparison, comparisons, dateText, nameOf, unfinished } from "./measured";
import { atSizes, onThreads, separated, sizesText } from "../../model/numbers";
import { Curves, Peaks, Predicted, Times } from "./plots";
import { CsvButtons, Rows } from "./rows";
import { Scrubber } from "./scrub";

export function Compare(): JSX.Element {
  const state = useWorkbench();
  const [asked, setAsked] = useState("");
  const all = comparisons(state);
  const newest = all[0]?.group;
  useEffect(() => setAsked(""), [newest]); // what is measured now is what is looked for
  const shown = all.find(({ group }) => group === asked) ?? all[0];
  const known = shown?.rows.map((row) => `${row.id} ${row.samples.length} ${nameOf(state, row)}`).join("\n");
  const rows = useMemo(() => (shown ? lettered(state, shown) : []), [known]);
  return (
    <div className="wbk-view wbk-compare">
      <MeasureForm />
      {shown ? (
        <Results all={all} shown={shown} rows={rows} choose={setAsked} />
      ) : (
        <p className="wbk-nothing">
          Nothing is measured yet. A measurement runs every variant in turn, checks each against the reference, and
          shows times, memory and learning curves here.
        </p>
      )}
      <Scrubber rows={rows} />
    </div>
  );
}

function Results(props: {
  all: readonly Comparison[];
  shown: Comparison;
  rows: readonly Lettered[];
  choose: (group: string) => void;
}): JSX.Element {
  const { all, shown, rows, choose } = props;
  const state = useWorkbench();
  const [first] = shown.rows;
  if (!first) return <></>;
  return (
    <>
      <div className="wbk-bar wbk-results-head">
        <h4>Results</h4>
        {all.length > 1 && (
          <select
            className="wbk-which"
            aria-label="Which comparison"
            value={shown.group}
            onChange={(event) => choose(event.target.value)}
          >
            {all.map((one) => (
              <option key={one.group} value={one.group}>
                {titleOf(one)}
              </option>
            ))}
          </select>
        )}
        <CsvButtons rows={rows} name={`${state.name}-comparison`} />
      </div>
      <Where first={first} />
      <Rows rows={rows} />
      <Times rows={rows} />
      <Peaks rows={rows} />
      <Curves rows={rows} />
      <Predicted rows={rows} />
    </>
  );
}

function titleOf({ rows }: Comparison): string {
  const [first] = rows;
  if (!first) return "";
  const count = rows.length === 1 ? "1 variant" : `${rows.length} variants`;
  const where = first.recorded ? `recorded on ${first.device}` : onThreads(first);
  const taken = unfinished(rows.find((row) => row.samples.length > 0) ?? first);
  return `${dateText(first.date)}, ${where}, ${count}${atSizes(first.sizes)}${taken && `, ${taken}`}`;
}

/** The device of the measurements, and a mark where they were made elsewhere. */
function Where({ first }: { first: MeasurementView }): JSX.Element {
  return (
    <p className="wbk-note">
      {first.recorded && <b className="wbk-recorded">recorded</b>}
      {first.device}, {dateText(first.date)}; {onThreads(first)}, {first.dtype}, seed {first.seed}
      {separated(sizesText(first.sizes))}
      {first.recorded && `; read from ${first.recorded}`}
    </p>
  );
}
