// Whether a measured variant computes what the reference says.

import type { MeasurementView } from "../protocol";

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
