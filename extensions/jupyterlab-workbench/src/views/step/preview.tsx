// What a step would make of the program: why it may be taken, costs before and after, the graph, the loop program
// compared.

import { useEffect, useRef, useState } from "react";
import { useCurrent, usePart, usePredicting, useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import type { Sizes } from "../../model/selection";
import { Waiting } from "../../waiting";
import type { CodeView, CostView, PreviewView, State, TextView } from "../../protocol";
import { editor } from "../code/editor";
import { runSizes } from "../compare/measured";
import { Notes } from "./notes";
import { WhyLegal } from "./why-legal";
import { sizesText } from "../../model/numbers";
import { GraphAfter } from "./preview-graph";
import { causes, type Change, changes, changeText, direction, parts, PriceTags } from "../moves/price";
import { openNext, type StepJson } from "./steps";

export function Preview({ preview }: { preview: PreviewView }): JSX.Element {
  const { backend } = useSelection();
  const now = usePart("snapshot", {});
  const code = usePart("code", { backend });
  return (
    <div className="wbk-preview">
      <Gain step={preview.step.json} />
      <WhyLegal step={preview.step.json} />
      <Costs step={preview.step.json} />
      <Notes notes={preview.notes} />
      <div className="wbk-preview-pair">
        {now.value && preview.snapshot && <GraphAfter before={now.value} after={preview.snapshot} />}
        <section className="wbk-code-after" aria-label="Program after the step">
          {code.value && preview.code ? (
            <Differences before={code.value} after={preview.code} />
          ) : (
            <Waiting loaded={code} what="the code" />
          )}
        </section>
      </div>
    </div>
  );
}

/** What it brings in a line, with the way to a measurement. */
function Gain({ step }: { step: StepJson }): JSX.Element | null {
  const state = useWorkbench();
  const run = usePredicting();
  const before = usePart("cost", run).value;
  const after = usePart("price", { step, ...run }).value;
  if (!before || !after) return null;
  return (
    <p className="wbk-gain">
      <span className="wbk-faint">Estimated at {settingText(state, run.sizes, before)}:</span>
      <PriceTags before={before} after={after} />
      <Measured step={step} />
    </p>
  );
}

/** Names the sizes of a prediction, and the lengths of episodes that it takes. */
const settingText = (state: State, sizes: Sizes, { assumed }: CostView): string =>
  [sizesText(runSizes(state.sizes, sizes)), assumed].filter(Boolean).join(", ");

/** What it costs before and after, as soon as it is predicted. */
function Costs({ step }: { step: StepJson }): JSX.Element {
  const state = useWorkbench();
  const run = usePredicting();
  const before = usePart("cost", run);
  const after = usePart("price", { step, ...run });
  if (!before.value || !after.value) {
    const missing = [before, after].find((one) => one.status === "failed" || one.status === "absent");
    if (missing?.error) return <p className="wbk-hint">No prediction: {missing.error.sentence}</p>;
    return <Waiting loaded={missing ?? after} what="the estimate" />;
  }
  const [time, ...held] = changes(before.value, after.value);
  return (
    <table className="wbk-costs">
      <caption>Estimated at {settingText(state, run.sizes, before.value)}, not measured</caption>
      <tbody>
        {time && <Changed change={time} />}
        {parts(before.value, after.value).map((change) => (
          <Changed key={change.name} change={change} says="The part of the time that the statement takes" />
        ))}
        {causes(before.value, after.value).map((change) => (
          <Changed key={change.name} change={change} says="What the time comes of" />
        ))}
        {held.map((change) => (
          <Changed key={change.name} change={change} />
        ))}
      </tbody>
    </table>
  );
}

/** A row of costs; `says` is what it tells of the row above. */
function Changed({ change, says }: { change: Change; says?: string }): JSX.Element {
  return (
    <tr className={says ? "wbk-comes-of" : ""} title={says ?? ""}>
      <th scope="row">{change.name}</th>
      <td>{change.text(change.before)}</td>
      <td aria-hidden="true">→</td>
      <td>{change.text(change.after)}</td>
      <td>
        <span className={`wbk-price ${direction(change)}`}>{changeText(change)}</span>
      </td>
    </tr>
  );
}

/** The way from an estimate to the truth: the step is taken, and stands with the variant before it where both are
 * measured. */
function Measured({ step }: { step: StepJson }): JSX.Element | null {
  const store = useStore();
  const { status } = useValues();
  const { key } = useCurrent();
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  if (status !== "connected") return null;

  function take(): void {
    setBusy(true);
    store
      .ask({ type: "apply", variant: key, step })
      .then((answer) => {
        openNext(store);
        const made = answer.type === "done" ? answer.variant : null;
        store.select({ pane: "compare", compared: made === null ? [] : [key, made] });
      })
      .catch((error: unknown) => {
        setSaid(error instanceof Error ? error.message : String(error));
        setBusy(false);
      });
  }

  return (
    <>
      <button
        className="wbk-button wbk-link"
        type="button"
        disabled={busy}
        title="Take this step, and go to where both variants can be measured"
        onClick={take}
      >
        Apply it and open Compare
      </button>
      {said && <span role="alert"> {said}</span>}
    </>
  );
}

type Level = "equations" | "schedule" | "loops";

const LEVELS: readonly { readonly level: Level; readonly title: string }[] = [
  { level: "equations", title: "Equations" },
  { level: "schedule", title: "Order" },
  { level: "loops", title: "Loops" },
];

/** The program before and after, on the first level that shows a difference. */
function Differences({ before, after }: { before: CodeView; after: CodeView }): JSX.Element {
  const changed = LEVELS.filter(({ level }) => before[level].text !== after[level].text);
  const [chosen, setChosen] = useState<Level | null>(null);
  const shown = changed.find(({ level }) => level === chosen) ?? changed[0];
  return (
    <>
      <div className="wbk-levels">
        <h4>Program, before and after</h4>
        {changed.map(({ level, title }) => (
          <button
            key={level}
            className="wbk-button"
            type="button"
            aria-pressed={level === shown?.level}
            onClick={() => setChosen(level)}
          >
            {title}
          </button>
        ))}
      </div>
      {shown ? (
        <Difference before={before[shown.level].text} after={after[shown.level]} name={shown.title} />
      ) : (
        <p className="wbk-hint">It stays as it is on every level.</p>
      )}
    </>
  );
}

function Difference({ before, after, name }: { before: string; after: TextView; name: string }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const store = useStore();
  const known = usePart("snapshot", {}).value;
  useEffect(() => {
    const host = place.current;
    if (!host) return undefined;
    const view = editor(host, { text: after, original: before }, `${name} after the step`, (statement) => {
      if (!known?.nodes.some((node) => node.id === statement)) return;
      if (statement !== null) store.select({ statements: [statement], scope: null, instance: null });
    });
    return () => view.destroy();
  }, [before, after, name, known, store]);
  return <div className="wbk-preview-code" ref={place} />;
}
