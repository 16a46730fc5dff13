// Compare: variants measured in turn, beside each other and beside what was predicted.

import { useMemo, useState } from "react";
import { useWorkbench } from "../model/hooks";
import type { MeasurementView } from "../protocol";
import { lettered, type Lettered } from "./letters";
import { MeasureForm } from "./measure";
import { type Comparison, comparisons, dateText } from "./measured";
import { sizesText } from "./numbers";
import { Curves, Peaks, Predicted, Times } from "./plots";
import { CsvButtons, Rows } from "./rows";
import { Scrubber } from "./scrub";

export function Compare(): JSX.Element {
  const state = useWorkbench();
  const [asked, setAsked] = useState("");
  const all = comparisons(state);
  const shown = all.find(({ group }) => group === asked) ?? all[0];
  const rows = useMemo(() => (shown ? lettered(state, shown) : []), [state, shown?.group]);
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
        {all.length > 1 ? (
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
        ) : (
          <span className="wbk-note">{dateText(first.date)}</span>
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
  const recorded = first.recorded ? "recorded " : "";
  return `${recorded}${dateText(first.date)}, ${first.backend}, ${count} at ${sizesText(first.sizes)}`;
}

/** On what it was run, and that it was elsewhere. */
function Where({ first }: { first: MeasurementView }): JSX.Element {
  return (
    <p className="wbk-note">
      {first.recorded && <b className="wbk-recorded">recorded</b>}
      {first.device}, {first.backend}, {first.dtype}, seed {first.seed}, {sizesText(first.sizes)}
      {first.recorded && `; read from ${first.recorded}`}
    </p>
  );
}
