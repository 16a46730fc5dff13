// Run: the shown variant runs in a process of its own, with its progress and learning curves while it does, and what
// it came to.

import { useEffect, useState } from "react";
import { useCurrent, useSelection, useValues, useWorkbench } from "../../model/hooks";
import { amountText, onThreads, peaksText, secondsText, separated, sizesText } from "../../model/numbers";
import type { RunView, State } from "../../protocol";
import { formerName } from "../../model/naming";
import { dateText, nameOf } from "../compare/measured";
import { divergedAt, firstOutput, lastOf, outputText } from "../charts/outputs";
import { OtherPeaks } from "../memory/other-peaks";
import { peakOfRun } from "../memory/peaks";
import { useRun } from "./ask";
import { Curve } from "./curve";
import { RunFields } from "./fields";
import { NotMade } from "./not-made";
import { Others } from "./others";

/** Lists the runs of a variant, the newest first. */
export function runsOf({ runs }: Pick<State, "runs">, variant: string): readonly RunView[] {
  return runs.filter((one) => one.variant === variant).reverse();
}

export function Run(): JSX.Element {
  const state = useWorkbench();
  const current = useCurrent();
  const [asked, setAsked] = useState("");
  const running = underWay(state)?.group ?? "";
  useEffect(() => {
    if (running) setAsked(running); // it stays when it has ended, though its program may have been changed
  }, [running]);
  const wanted = running || asked;
  const former = state.runs.filter((run) => run.id === wanted && isFormer(state, run));
  const listed = [...former, ...runsOf(state, current.key)];
  const shown = listed.find(({ id }) => id === wanted) ?? listed[0];
  return (
    <div className="wbk-view wbk-run-view">
      <RunForm />
      {shown ? <Results key={shown.id} shown={shown} listed={listed} choose={setAsked} /> : <Nothing />}
    </div>
  );
}

/** Tells whether a run is of the program before it was traced again. */
const isFormer = ({ variants }: State, run: RunView): boolean => variants.every(({ key }) => key !== run.variant);

const runName = (state: State, run: RunView): string => (isFormer(state, run) ? formerName(run) : nameOf(state, run));

const underWay = ({ measuring }: State): State["measuring"] => (measuring?.what === "run" ? measuring : null);

function RunForm(): JSX.Element {
  const state = useWorkbench();
  const current = useCurrent();
  const { status } = useValues();
  const { backend } = useSelection();
  const [seed, setSeed] = useState("0");
  const { start, said } = useRun("run");
  if (status === "saved") return <p className="wbk-note">Saved results. Run the notebook to run more.</p>;
  const reason = state.backends.find((one) => one.name === backend)?.reason ?? "";
  const connected = status === "connected";
  const running = connected ? underWay(state) : null;
  const other = state.variants.find(({ key }) => key === running?.variants[0]);
  const former = state.runs.find(({ id }) => id === running?.group);
  return (
    <form
      className="wbk-measure"
      onSubmit={(event) => {
        event.preventDefault();
        start(current.key, { seed: Math.max(0, Math.floor(Number(seed)) || 0) });
      }}
    >
      <div className="wbk-bar">
        <button
          className="wbk-button wbk-primary wbk-begin"
          type="submit"
          disabled={reason !== "" || !connected || state.measuring !== null}
        >
          {running ? "Running …" : "Run"}
        </button>
        <RunFields>
          <label className="wbk-field">
            <span>seed</span>
            <input type="number" min="0" value={seed} onChange={(event) => setSeed(event.target.value)} />
          </label>
        </RunFields>
      </div>
      <p className="wbk-note">
        {running ? (
          <>
            Running: <b>{other?.name ?? (former ? formerName(former) : "a variant")}</b>. The notebook can be used meanwhile.
          </>
        ) : reason ? (
          `${backend} cannot run here: ${reason}`
        ) : (
          <>
            Runs the shown variant, <b>{current.name}</b>, in a process of its own: the notebook stays free.
          </>
        )}
      </p>
      {said && (
        <p className="wbk-answer" role="alert">
          {said}
        </p>
      )}
      {!running && <NotMade view={state.unrun} what="run" />}
    </form>
  );
}

/** The pane before there is a run of the shown variant. */
function Nothing(): JSX.Element {
  const state = useWorkbench();
  const { status } = useValues();
  return (
    <>
      <p className="wbk-nothing">
        {status === "saved" ? "What was saved holds no run of this variant." : "This variant has not been run here yet."} A
        run shows its learning curves while it lasts; all that it returns is then in Python, as <code>result</code> of
        this workbench.
      </p>
      <Others what="runs" has={(key) => runsOf(state, key).length > 0} />
    </>
  );
}

function Results(props: {
  shown: RunView;
  listed: readonly RunView[];
  choose: (id: string) => void;
}): JSX.Element {
  const { shown, listed, choose } = props;
  const state = useWorkbench();
  const { status } = useValues();
  const running = status === "connected" && underWay(state)?.group === shown.id;
  const names = shown.curves.map(({ name }) => name);
  const [asked, setAsked] = useState("");
  const name = names.includes(asked) ? asked : firstOutput(names);
  const curve = shown.curves.find((one) => one.name === name);
  const diverged = curve ? divergedAt(curve) : null;
  return (
    <>
      <div className="wbk-bar wbk-results-head">
        <h4>{runName(state, shown)}</h4>
        {listed.length > 1 && (
          <select
            className="wbk-which"
            aria-label="Which run"
            value={shown.id}
            disabled={running}
            onChange={(event) => choose(event.target.value)}
          >
            {listed.map((one) => (
              <option key={one.id} value={one.id}>
                {isFormer(state, one) && "before the change: "}
                {[sizesText(one.sizes), `seed ${one.seed}`, one.backend, one.dtype].filter(Boolean).join(", ")}; {dateText(one.date)}
              </option>
            ))}
          </select>
        )}
        {names.length > 1 && (
          <label className="wbk-field wbk-bar-end">
            <span>output</span>
            <select value={name} onChange={(event) => setAsked(event.target.value)}>
              {names.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      <p className="wbk-total">
        {curve && lastOf(curve) !== null && (
          <>
            <b>{(lastOf(curve) ?? 0).toPrecision(4)}</b> {outputText(name)}
            {diverged === null ? "" : `, the last finite value: not finite from ${curve.dim}=${diverged} on`} ·{" "}
          </>
        )}
        {curve && diverged === 0 && (
          <>
            <b>not finite</b> {outputText(name)} ·{" "}
          </>
        )}
        {progressText(shown, running)}
      </p>
      {shown.failed && (
        <p className="wbk-answer" role="alert">
          {shown.failed}
        </p>
      )}
      {curve ? (
        <Curve curve={curve} total={Math.ceil((shown.total * curve.values.length * curve.every) / Math.max(shown.completed, 1))} />
      ) : (
        <p className="wbk-hint">{curvelessText(shown, running)}</p>
      )}
      <p className="wbk-note">
        {shown.threads === null ? shown.backend : onThreads({ backend: shown.backend, threads: shown.threads })}, {shown.dtype}, seed {shown.seed}
        {separated(sizesText(shown.sizes))}; {dateText(shown.date)}
        {shown.compile_seconds !== null && `; compiled in ${secondsText(shown.compile_seconds)}`}
        {"device" in shown.peak_bytes && `; peak ${peaksText(shown.peak_bytes)}`}
      </p>
      <OtherPeaks here={peakOfRun(shown)} variant={shown.variant} />
      {status === "connected" && state.result === shown.id && !shown.failed && !running && (
        <p className="wbk-note">
          In Python: <code>.result</code> of this workbench is this run, with all its arrays.
        </p>
      )}
    </>
  );
}

/** Tells why there is no curve of a run. */
function curvelessText({ completed }: RunView, running: boolean): string {
  if (completed > 0) return "No output of it varies over a dimension.";
  return running ? "The first iteration is under way." : "No iteration of it was finished.";
}

/** Tells how far a run came, in what time, and how fast. */
export function progressText(run: RunView, running: boolean): string {
  const { completed, total, counted, seconds, environment_steps, failed } = run;
  const what = counted === "update" ? "updates" : counted === "" ? "" : `iterations of ${counted}`;
  const done = completed < total ? `${completed} of ${total}` : `${total}`;
  const far = total > 1 || what ? `${done} ${what}`.trim() : completed ? "done" : "begun";
  const speed = seconds > 0 ? (environment_steps * completed) / total / seconds : 0;
  const end = failed ? ", then it ended" : ", then stopped";
  const parts = [`${far}${completed < total && !running ? end : ""}`, secondsText(seconds)];
  if (speed > 0) parts.push(`${amountText(speed, "").trim()} environment steps/s`);
  return parts.join(" · ");
}
