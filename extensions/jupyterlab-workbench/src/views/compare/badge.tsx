// Whether a measured variant computes what the reference says, and whether all of its rounds were run.

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

/** That it was ended before its time, or is still measured. */
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
