// A form for any step, made from the JSON Schema that its transform declares.

import { useEffect, useMemo, useRef, useState } from "react";
import { useCurrent, useSelection, useStore } from "../../model/hooks";
import type { Loaded } from "../../model/parts";
import type { MovesView, PreviewView, TransformView } from "../../protocol";
import { Waiting } from "../../waiting";
import { Marked } from "./marked";
import { FieldRow } from "./step-fields";
import { fieldsOf, startOf, stepFrom, type Value } from "./step-schema";
import type { StepJson } from "./steps";

export default function StepForm(props: {
  loaded: Loaded<MovesView>;
  step: StepJson | null;
  statements: readonly string[];
  leave: () => void;
  show: (step: StepJson) => void;
}): JSX.Element {
  const { loaded, step, statements, leave, show } = props;
  const moves = loaded.value;
  const sorted = [...(moves?.transforms ?? [])].sort((one, other) => (one.name < other.name ? -1 : 1));
  const [name, setName] = useState(String(step?.["transform"] ?? "Vectorize"));
  // Kinds come one by one: another one in its place would be gone while somebody fills it in.
  const transform = sorted.find((one) => one.name === name) ?? (loaded.status === "done" ? sorted[0] : undefined);
  const ready = moves !== null && transform !== undefined;
  return (
    <div
      className="wbk-step-form"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        leave();
      }}
    >
      <div className="wbk-step-bar">
        <button className="wbk-button" type="button" onClick={leave} title="Leave the form (Esc)">
          ← Back
        </button>
        {ready && (
          <label className="wbk-step-kind">
            Kind of step{" "}
            <select value={transform.name} onChange={(event) => setName(event.target.value)} autoFocus>
              {sorted.map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {ready ? (
        <>
          <p className="wbk-hint">
            <Marked text={transform.summary} />{" "}
            <i>{transform.equation_step ? "Changes equations." : "Changes order or storage."}</i>
          </p>
          <Arguments key={transform.name} transform={transform} names={moves.names} step={step} statements={statements} show={show} />
          <details className="wbk-documentation">
            <summary>What {transform.name} does, and when it is legal</summary>
            <pre>{transform.documentation}</pre>
          </details>
        </>
      ) : (
        <Waiting loaded={loaded} what={`what ${name} takes`} />
      )}
    </div>
  );
}

/** The arguments. Python is asked for a preview of the step: what it refuses as bad input is said here, at the field
 * that it is about; any other step opens. */
function Arguments(props: {
  transform: TransformView;
  names: MovesView["names"];
  step: StepJson | null;
  statements: readonly string[];
  show: (step: StepJson) => void;
}): JSX.Element {
  const { transform, names, step, statements, show } = props;
  const fields = useMemo(() => fieldsOf(transform), [transform]);
  const [value, setValue] = useState<Value>(() => startOf(transform, step, statements));
  const [asked, setAsked] = useState<StepJson | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const preview = usePreview(asked);
  const problem = preview && problemOf(preview, transform);
  useEffect(() => {
    if (!asked || !preview || preview.status === "waiting") return;
    if (problem) form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    else show(asked);
  }, [asked, preview]);
  return (
    <form
      className="wbk-form"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        setAsked(stepFrom(transform, value));
      }}
    >
      {fields.map((field) => (
        <FieldRow
          key={field.argument}
          field={field}
          value={value[field.argument] ?? field.preset}
          problem={problem?.arguments[field.argument] ?? ""}
          known={names[field.known] ?? []}
          statements={statements}
          change={(entered) => {
            setValue((old) => ({ ...old, [field.argument]: entered }));
            setAsked(null); // what was said is about another step
          }}
        />
      ))}
      {problem?.sentence && (
        <p className="wbk-field-error" role="alert">
          {problem.sentence}
        </p>
      )}
      <button className="wbk-button wbk-primary" type="submit">
        Preview
      </button>
      {preview?.status === "waiting" && <Waiting loaded={preview} what="the preview" />}
    </form>
  );
}

/** What Python makes of a step; null where there is none to ask for. */
function usePreview(step: StepJson | null): Loaded<PreviewView> | null {
  const store = useStore();
  const { backend } = useSelection();
  const { key } = useCurrent();
  useEffect(() => (step ? () => store.forget("preview", key, { step, backend }) : undefined), [store, step, key, backend]);
  return step && store.part("preview", key, { step, backend });
}

interface Problem {
  /** What is said of arguments, at their fields. */
  readonly arguments: Readonly<Record<string, string>>;
  /** What is said under the form; "" where it is all about arguments. */
  readonly sentence: string;
}

/** Why Python takes a step for none of this program; null where it does not. */
function problemOf({ error, value }: Loaded<PreviewView>, transform: TransformView): Problem | null {
  if (error) return problem(error.sentence, error.arguments, `${transform.name}: `);
  if (value?.refusal?.kind !== "input") return null;
  const { sentence, argument } = value.refusal;
  return problem(sentence, argument === null ? {} : { [argument]: sentence }, `${value.step.text}: `);
}

/** `start` is what the form says already: it is left out of every sentence. */
function problem(sentence: string, about: Problem["arguments"], start: string): Problem {
  const said = Object.entries(about).map(([argument, reason]) => [argument, reason.replace(start, "")]);
  return { arguments: Object.fromEntries(said), sentence: said.length ? "" : sentence.replace(start, "") };
}
