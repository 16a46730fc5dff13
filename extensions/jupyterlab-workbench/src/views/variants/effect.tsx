// The effect of a step on time and memory: measured where both were measured in turn, else predicted, never mixed.

import { useWorkbench } from "../../model/hooks";
import { nameOfKey } from "../../model/naming";
import type { CostView, MeasurementView, VariantView } from "../../protocol";
import { Unfinished } from "../compare/badge";
import { isUncalibrated } from "../run/estimated";
import type { Comparison } from "../compare/measured";
import { changeText, hasRatio, peaksChangeText, peaksText, secondsText, withInterval } from "../../model/numbers";

export function Numbers(props: {
  variant: VariantView;
  measured: MeasurementView | undefined;
  comparison: Comparison | undefined;
  predictions: ReadonlyMap<string, CostView>;
}): JSX.Element | null {
  const { variant, measured, comparison, predictions } = props;
  if (measured && measured.outcome === "failed") {
    return <div className="wbk-numbers wbk-bad">no time: {measured.check}</div>;
  }
  const stands = measured && (measured.too_slow || measured.stopped);
  if (measured && measured.median !== null) return <Measured measured={measured} comparison={comparison} />;
  return (
    <>
      {stands && <div className="wbk-numbers wbk-no-run">{stands}</div>}
      <Predicted variant={variant} comparison={comparison} predictions={predictions} />
    </>
  );
}

function Measured(props: { measured: MeasurementView; comparison: Comparison | undefined }): JSX.Element {
  const { measured, comparison } = props;
  const { variants } = useWorkbench();
  const since = measured.last_steps;
  const own = variants.find((one) => one.key === measured.variant);
  const base = comparison?.rows.find((one) => one.variant === since?.since);
  const name = nameOfKey(since?.since, variants) || base?.label;
  return (
    <div className="wbk-numbers">
      <b title={measured.low === null ? "One run" : `95 %: ${secondsText(measured.low)} to ${secondsText(measured.high)}`}>
        {secondsText(measured.median)}
      </b>
      <b>{peaksText(measured.peak_bytes)}</b>
      <Unfinished row={measured} />
      {since && (
        <span>
          {hasRatio(since.text) ? `time ${withInterval(since.text, since.low, since.high)}` : since.text}
          {base && `, peak ${peaksChangeText(measured.peak_bytes, base.peak_bytes)}`}
          {since.since !== own?.parent && ` since ${name ?? "an earlier one"}`}
        </span>
      )}
    </div>
  );
}

/** The predicted effect. Beside a measured parent it says which prediction it is compared with. */
function Predicted(props: {
  variant: VariantView;
  comparison: Comparison | undefined;
  predictions: ReadonlyMap<string, CostView>;
}): JSX.Element | null {
  const { variant, comparison, predictions } = props;
  const own = predictions.get(variant.key);
  const before = variant.parent === null ? undefined : predictions.get(variant.parent);
  if (!own) return null;
  const isMeasured = comparison?.rows.some((one) => one.variant === variant.parent && one.median !== null);
  return (
    <div className={`wbk-numbers wbk-estimate${isUncalibrated(own) ? " wbk-rough" : ""}`} title={own.note || "predicted, not measured"}>
      <span>≈ {secondsText(own.seconds)}</span>
      <span>{peaksText(own.peak_bytes)}</span>
      {before && (
        <span>
          time {changeText(before.seconds, own.seconds, secondsText)}
          {isMeasured && ` against the predicted ${secondsText(before.seconds)}`}, peak{" "}
          {peaksChangeText(own.peak_bytes, before.peak_bytes)}
        </span>
      )}
    </div>
  );
}
