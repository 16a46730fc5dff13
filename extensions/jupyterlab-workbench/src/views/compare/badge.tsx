// Badges of a measured variant: its check against the reference, and its unfinished rounds.

import { useValues, useWorkbench } from "../../model/hooks";
import type { MeasurementView } from "../../protocol";
import { unfinished } from "./measured";

const OUTCOMES: Readonly<Record<MeasurementView["outcome"], readonly [string, string]>> = {
  passed: ["✓ checked", "wbk-good"],
  failed: ["✗ FAILED", "wbk-bad"],
  impossible: ["? not checkable", "wbk-warn"],
  "not run": ["not run", "wbk-faint"],
};

export function Badge({ measured }: { measured: MeasurementView | undefined }): JSX.Element {
  const [text, style] = OUTCOMES[measured?.outcome ?? "not run"];
  return (
    <span className={`wbk-badge ${style}`} title={measured?.check_report ?? "Measure it to have it checked."}>
      {text}
    </span>
  );
}

/** A badge of a measurement that was ended early, or still runs. */
export function Unfinished({ row }: { row: MeasurementView }): JSX.Element | null {
  const { measuring } = useWorkbench();
  const { status } = useValues();
  const text = unfinished(row);
  if (!text) return null;
  const growing = status === "connected" && measuring !== null && measuring.group === row.group;
  return (
    <span
      className={growing ? "wbk-rounds wbk-waiting" : "wbk-rounds"}
      title={growing ? "It is being measured" : "The measurement was ended before its time: these rounds were finished"}
    >
      {text}
    </span>
  );
}
