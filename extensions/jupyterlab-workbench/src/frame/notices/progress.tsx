// What is under way, measured or looked for, with its progress: it lies over the graph's lower edge, and nothing moves
// under the pointer when it comes and goes.

import { useStore, useValues, useWorkbench } from "../../model/hooks";
import { formerName, nameOfKey } from "../../model/naming";
import type { ProgressView, VariantView } from "../../protocol";
import { perform } from "../actions";

export function Progress(): JSX.Element | null {
  const { status } = useValues();
  const { measuring } = useWorkbench();
  return measuring && status === "connected" ? <Shown measuring={measuring} /> : null;
}

/** The unit that a stage of a measurement counts. */
const COUNTED: Readonly<Record<string, string>> = {
  "compiling and checking": "variants",
  "warming up": "rounds of all variants",
  measuring: "rounds of all variants",
  profiling: "rounds",
};

/** The stage in which rounds are made, which are kept where no more are wanted. */
const ROUNDS: Partial<Record<ProgressView["what"], string>> = { measurement: "measuring", profile: "profiling" };

/** The variant that is run or profiled, with a way to show it where another one is shown. */
function Made({ measuring: { what, variants: keys, group } }: { measuring: ProgressView }): JSX.Element | null {
  const store = useStore();
  const { variants, current, runs } = useWorkbench();
  const made = variants.find(({ key }) => key === keys[0]);
  const former = runs.find(({ id }) => id === group);
  if (!made && what === "run" && former) return <b>{formerName(former)}</b>;
  if (!made || (what !== "run" && what !== "profile")) return null;
  if (made.key === current) return <b>{made.name}</b>;
  return (
    <button
      className="wbk-button wbk-link"
      type="button"
      onClick={() => void perform(store, () => store.ask({ type: "show", variant: made.key }))}
    >
      {made.name}
    </button>
  );
}

/** Says what was stopped and what of it stays. */
function stopped({ what, stage, done, variants: keys }: ProgressView, variants: readonly VariantView[]): string {
  const names = keys.map((key) => nameOfKey(key, variants)).join(" · ");
  const begun = stage === ROUNDS[what] && done > 0;
  return `The ${what} of ${names} was stopped: ${begun ? "its finished rounds are kept." : "no round was done, so none is kept."}`;
}

function Shown({ measuring }: { measuring: ProgressView }): JSX.Element {
  const store = useStore();
  const { runs, variants } = useWorkbench();
  const { what, stage, done, total, group } = measuring;
  const counted = runs.find(({ id }) => what === "run" && id === group)?.counted;
  const unit = counted === "update" ? "updates" : counted ? "iterations" : (COUNTED[stage] ?? "");
  const endless = what === "search" || what === "calibration"; // nobody knows how much is left
  const told: Partial<Record<ProgressView["what"], string>> = { search: `${done} ${done === 1 ? "plan" : "plans"} tried`, calibration: "about 20 seconds" };
  return (
    <div className="wbk-banner wbk-progress" role="status">
      <span className="wbk-doing" title={stage}>
        {stage} <Made measuring={measuring} />
      </span>
      {endless ? (
        <progress aria-label={`Progress of the ${what}`} />
      ) : (
        <progress max={Math.max(total, 1)} value={done} aria-label="Progress of the measurement" />
      )}
      <span className="wbk-count">{told[what] ?? `${done} of ${total} ${unit}`}</span>
      <button
        className="wbk-button"
        type="button"
        onClick={() =>
          void perform(store, async () => {
            await store.ask({ type: "cancel" });
            return what in ROUNDS ? stopped(measuring, variants) : undefined;
          })
        }
      >
        Cancel
      </button>
    </div>
  );
}
