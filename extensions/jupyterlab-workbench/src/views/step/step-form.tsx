// A form for any step, made from the JSON Schema that its transform declares.

import Form from "@rjsf/core";
import type { FieldProps, FieldTemplateProps, FormValidation, RegistryFieldsType } from "@rjsf/utils";
import validator from "@rjsf/validator-ajv8";
import { useId, useMemo, useRef, useState } from "react";
import type { TransformView } from "../../protocol";
import { formOf, problems, someOf, startOf, stepFrom, type Value } from "./step-schema";
import type { StepJson } from "./steps";

export default function StepForm(props: {
  transforms: readonly TransformView[];
  step: StepJson | null;
  statements: readonly string[];
  leave: () => void;
  show: (step: StepJson) => void;
}): JSX.Element {
  const { transforms, step, statements, leave, show } = props;
  const sorted = [...transforms].sort((one, other) => (one.name < other.name ? -1 : 1));
  const [name, setName] = useState(String(step?.["transform"] ?? "Vectorize"));
  const transform = sorted.find((one) => one.name === name) ?? sorted[0];
  if (!transform) return <p className="wbk-hint">No kinds of steps are known yet.</p>;
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
        <label className="wbk-step-kind">
          Kind of step{" "}
          <select value={transform.name} onChange={(event) => setName(event.target.value)} autoFocus>
            {sorted.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
        </label>
      </div>
      <p className="wbk-hint">
        <Marked text={transform.summary} /> <i>{transform.equation_step ? "Changes equations." : "Changes order or storage."}</i>
      </p>
      <Arguments key={transform.name} transform={transform} step={step} statements={statements} show={show} />
      <details className="wbk-documentation">
        <summary>What {transform.name} does, and when it is legal</summary>
        <pre>{transform.documentation}</pre>
      </details>
    </div>
  );
}

/** Names between backticks as code. */
function Marked({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text.split("`").map((part, position) => (position % 2 ? <code key={position}>{part}</code> : part))}
    </>
  );
}

function Arguments(props: {
  transform: TransformView;
  step: StepJson | null;
  statements: readonly string[];
  show: (step: StepJson) => void;
}): JSX.Element {
  const { transform, step, statements, show } = props;
  const form = useMemo(() => formOf(transform), [transform]);
  const [value, setValue] = useState<Value>(() => withoutNull(startOf(transform, step, statements)));
  return (
    <Form
      className="wbk-form"
      schema={form.schema}
      uiSchema={form.ui}
      formData={value}
      fields={FIELDS}
      templates={{ FieldTemplate }}
      formContext={{ statements }}
      validator={validator}
      showErrorList={false}
      noHtml5Validate
      focusOnFirstError
      transformErrors={() => [] /* said in words instead */}
      customValidate={(entered, errors) => said(errors, problems(transform, entered as Value))}
      onError={() => undefined /* each field says it */}
      onChange={(event) => setValue(event.formData as Value)}
      onSubmit={(event) => show(stepFrom(transform, event.formData as Value))}
    >
      <button className="wbk-button wbk-primary" type="submit">
        Preview
      </button>
    </Form>
  );
}

function said(errors: FormValidation, found: ReadonlyMap<string, string>): FormValidation {
  for (const [name, problem] of found) errors[name]?.addError(problem);
  return errors;
}

function withoutNull(value: Value): Value {
  return Object.fromEntries(Object.entries(value).filter(([, entered]) => entered !== null));
}

function FieldTemplate(props: FieldTemplateProps): JSX.Element {
  const { id, label, required, rawErrors, children, schema, uiSchema } = props;
  if (schema.type === "object") return <div>{children}</div>;
  const optional = uiSchema?.["ui:options"]?.["optional"] === true;
  return (
    <div className="wbk-step-field">
      <label htmlFor={id}>
        {label}
        {!required && <span className="wbk-faint"> {optional ? "(may be left out)" : "(has a default)"}</span>}
      </label>
      {children}
      {rawErrors?.length ? (
        <p id={errorId(id)} className="wbk-field-error" role="alert">
          {label} {rawErrors.join("; ")}
        </p>
      ) : null}
    </div>
  );
}

function known(props: FieldProps): readonly string[] {
  return (props.uiSchema?.["ui:options"]?.["known"] ?? []) as readonly string[];
}

/** What an input says of itself where it is wrong. */
function wrong({ idSchema, rawErrors }: FieldProps): React.AriaAttributes {
  return rawErrors?.length ? { "aria-invalid": true, "aria-describedby": errorId(idSchema.$id) } : {};
}

const errorId = (id: string): string => `${id}-error`;

function Known({ id, names }: { id: string; names: readonly string[] }): JSX.Element {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

/** So few names are all shown to be chosen from. */
const FEW = 12;

/** One name: a dimension or a loop, of which there are few, is chosen; others are suggested while one types. */
function NameField(props: FieldProps): JSX.Element {
  const id = props.idSchema.$id;
  const entered = typeof props.formData === "string" ? props.formData : "";
  const names = known(props);
  const set = (name: string): void => props.onChange(name || undefined);
  if (["dim", "loop"].includes(String(props.uiSchema?.["ui:options"]?.["names"])) && names.length <= FEW) {
    return (
      <select id={id} className="wbk-name-choice" value={entered} onChange={(event) => set(event.target.value)} {...wrong(props)}>
        <option value="">{props.required ? "choose …" : "–"}</option>
        {[...new Set([...names, ...(entered ? [entered] : [])])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    );
  }
  return (
    <>
      <input
        id={id}
        className="wbk-name-input"
        list={`${id}known`}
        value={entered}
        placeholder={someOf(names)}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => set(event.target.value)}
        {...wrong(props)}
      />
      <Known id={`${id}known`} names={names} />
    </>
  );
}

/** A whole number; what is none stays as it was typed, and is said to be none. */
function NumberField(props: FieldProps): JSX.Element {
  const entered = props.formData as number | string | undefined;
  return (
    <input
      id={props.idSchema.$id}
      className="wbk-number-input"
      inputMode="numeric"
      autoComplete="off"
      placeholder={String(props.uiSchema?.["ui:options"]?.["number"] ?? "")}
      value={entered ?? ""}
      onChange={(event) => props.onChange(numberOf(event.target.value))}
      {...wrong(props)}
    />
  );
}

function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (!trimmed) return undefined;
  return /^[+-]?\d+$/.test(trimmed) ? Number(trimmed) : text;
}

/** Any number of names, each a chip. */
function NamesField(props: FieldProps): JSX.Element {
  const id = props.idSchema.$id;
  const [typed, setTyped] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const names: readonly string[] = Array.isArray(props.formData) ? (props.formData as string[]) : [];
  const { statements } = (props.formContext ?? { statements: [] }) as { statements: readonly string[] };
  const kind = props.uiSchema?.["ui:options"]?.["names"];
  const missing = kind === "statement" ? statements.filter((name) => !names.includes(name)) : [];

  function add(more: readonly string[]): void {
    const fresh = more.map((name) => name.trim()).filter((name) => name && !names.includes(name));
    if (fresh.length) props.onChange([...names, ...fresh]);
    setTyped("");
  }

  return (
    <div className="wbk-names" onClick={(event) => event.target === event.currentTarget && input.current?.focus()}>
      {names.map((name) => (
        <span key={name} className="wbk-chip">
          {name}
          <button
            type="button"
            aria-label={`Without ${name}`}
            onClick={() => props.onChange(names.filter((other) => other !== name))}
          >
            ×
          </button>
        </span>
      ))}
      <input
        id={id}
        ref={input}
        list={`${id}known`}
        value={typed}
        placeholder={names.length ? "" : someOf(known(props))}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          const text = event.target.value;
          if (isChoice(event.nativeEvent) && known(props).includes(text)) add([text]);
          else setTyped(text);
        }}
        {...wrong(props)}
        onBlur={() => add([typed])}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault(); // it ends a name and not the form
            add([typed]);
          } else if (event.key === "Backspace" && !typed) props.onChange(names.slice(0, -1));
        }}
      />
      {missing.length > 0 && (
        <button className="wbk-button wbk-link" type="button" onClick={() => add(missing)}>
          add the {missing.length} selected
        </button>
      )}
      <Known id={`${id}known`} names={known(props).filter((name) => !names.includes(name))} />
    </div>
  );
}

/** Whether a suggestion was chosen, and not a letter typed: names may begin with other names. */
function isChoice(event: Event): boolean {
  return !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
}

type Pair = readonly [string, number | string];

/** Names with a whole number each, such as shifts. */
function PairsField(props: FieldProps): JSX.Element {
  const id = useId();
  const pairs: readonly Pair[] = Array.isArray(props.formData) ? (props.formData as Pair[]) : [];
  const set = (position: number, pair: Pair): void =>
    props.onChange(pairs.map((old, place) => (place === position ? pair : old)));
  return (
    <div className="wbk-pairs">
      {pairs.map(([name, number], position) => (
        <div key={position} className="wbk-pair">
          <input
            className="wbk-name-input"
            aria-label="Name"
            list={id}
            value={name}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set(position, [event.target.value, number])}
          />
          <input
            className="wbk-number-input"
            inputMode="numeric"
            aria-label={`Number for ${name || "the name"}`}
            value={number}
            onChange={(event) => set(position, [name, numberOf(event.target.value) ?? ""])}
          />
          <button
            className="wbk-icon"
            type="button"
            aria-label={`Without ${name}`}
            onClick={() => props.onChange(pairs.filter((_, place) => place !== position))}
          >
            ×
          </button>
        </div>
      ))}
      <button className="wbk-button wbk-link" type="button" onClick={() => props.onChange([...pairs, ["", 1]])}>
        add one
      </button>
      <Known id={id} names={known(props)} />
    </div>
  );
}

const FIELDS: RegistryFieldsType = { name: NameField, names: NamesField, number: NumberField, pairs: PairsField };
