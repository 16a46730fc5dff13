// What estimates hold for, and whether this machine's constants are known: until then their scale may be wrong.

import { perform } from "../../frame/actions";
import { useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { sizesText } from "../../model/numbers";
import type { CostView } from "../../protocol";

/** Tells whether seconds are made of built-in constants whose scale is not known. */
export const isUncalibrated = (cost: CostView | null): boolean => cost?.note.startsWith("uncalibrated") ?? false;

/** Tells whether they are in the scale of the first measurement of this machine. */
const isScaled = (cost: CostView): boolean => cost.note.startsWith("scaled");

/** The sizes and the backend of the estimates below; a button leads to where they are changed. */
export function Estimated({ cost }: { cost: CostView | null }): JSX.Element | null {
  const store = useStore();
  if (!cost) return null;
  return (
    <p className="wbk-estimated">
      Estimated at{" "}
      <button
        className="wbk-button wbk-link"
        type="button"
        title="Change the sizes and the backend"
        onClick={({ currentTarget }) => {
          const root = currentTarget.closest(".wbk-root");
          store.select({ pane: "compare" });
          requestAnimationFrame(() => root?.querySelector<HTMLInputElement>(".wbk-measure .wbk-size")?.select());
        }}
      >
        {sizesText(cost.sizes) || "any size"}
      </button>{" "}
      on {cost.backend}, {cost.dtype}
      {cost.assumed && `, ${cost.assumed}`}
      {isUncalibrated(cost) && <Uncalibrated note={cost.note}>times are rough on this machine</Uncalibrated>}
      {isScaled(cost) && <Uncalibrated note={cost.note}>times are {cost.note.split(";")[0]}</Uncalibrated>}
    </p>
  );
}

/** Tells what seconds rest on, with a button that measures what they are made of. */
export function Uncalibrated({ note, children }: { note: string; children: React.ReactNode }): JSX.Element {
  const store = useStore();
  const { status } = useValues();
  const { backend } = useSelection();
  const { measuring } = useWorkbench();
  return (
    <span className="wbk-uncalibrated">
      {" · "}
      <span title={note}>{children}</span>{" "}
      {status === "connected" && (
        <button
          className="wbk-button"
          type="button"
          disabled={measuring !== null}
          title={`Measure what they are made of on ${backend}: about 20 seconds`}
          onClick={() => void perform(store, () => store.ask({ type: "calibrate", backend }))}
        >
          Calibrate
        </button>
      )}
    </span>
  );
}
