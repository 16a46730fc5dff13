// One step: what it would make and what it would cost, or why it cannot be taken. Applies it.

import { useEffect, useRef, useState } from "react";
import { useCurrent, useOwnPart, useSelection, useStore, useValues } from "../../model/hooks";
import { Waiting } from "../../waiting";
import { Preview } from "./preview";
import { Contrast, SelectedMeanwhile } from "./same-for";
import { openNext, type StepJson } from "./steps";
import { Why } from "./why";

export function OpenStep(props: { step: StepJson; edit: () => void }): JSX.Element {
  const { step, edit } = props;
  const { backend, next } = useSelection();
  const store = useStore();
  const leave = (): void => openNext(store);
  const loaded = useOwnPart("preview", { step, backend });
  const shown = loaded.value;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!store.values().selection.tour?.open) place.current?.focus(); // the tour tells of it meanwhile
  }, [store]);
  return (
    <div
      className="wbk-open-step"
      ref={place}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        leave();
      }}
    >
      <div className="wbk-step-bar">
        <button
          className="wbk-button"
          type="button"
          onClick={leave}
          title={next ? `Back to ${next.text} (Esc)` : "Back to the moves (Esc)"}
        >
          {next ? "← Refused step" : "← Moves"}
        </button>
        <span className="wbk-space-between" />
        <button className="wbk-button" type="button" onClick={edit} title="Change the arguments of this step">
          Edit …
        </button>
        <Apply step={step} possible={shown !== null && shown.refusal === null} />
        {shown && <SelectedMeanwhile step={shown.step} />}
      </div>
      <h3 className="wbk-name">{shown?.step.text ?? String(step["transform"])}</h3>
      <Contrast />
      {next && (
        <p className="wbk-hint">
          Then comes <code>{next.text}</code>, which was refused without it.
        </p>
      )}
      {!shown && <Waiting loaded={loaded} what="the preview" />}
      {shown?.refusal && <Why step={shown.step} refusal={shown.refusal} />}
      {shown && !shown.refusal && <Preview preview={shown} />}
    </div>
  );
}

function Apply({ step, possible }: { step: StepJson; possible: boolean }): JSX.Element {
  const store = useStore();
  const { status } = useValues();
  const { key } = useCurrent();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");

  function apply(): void {
    setBusy(true);
    setProblem("");
    store
      .ask({ type: "apply", variant: key, step })
      .then(() => openNext(store))
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setBusy(false));
  }

  return (
    <>
      <button
        className="wbk-button wbk-primary"
        type="button"
        disabled={!possible || busy || status !== "connected"}
        title={status === "connected" ? "Take this step" : "Steps can be taken where a Jupyter kernel runs"}
        onClick={apply}
      >
        {busy ? "Applying …" : "Apply"}
      </button>
      {problem && (
        <p className="wbk-apply-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
