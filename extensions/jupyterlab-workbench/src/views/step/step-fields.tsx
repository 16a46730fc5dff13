// The fields of a step's form: a name, any number of names, a number, names with a number each, a choice.

import { useId, useRef, useState } from "react";
import type { Entered, Field, Pair } from "./step-schema";

/** What every kind of field is drawn from. `wrong` is what an input says of itself where it is wrong. */
interface Props<T extends Entered> {
  readonly id: string;
  readonly field: Field;
  readonly value: T;
  readonly wrong: React.AriaAttributes;
  readonly known: readonly string[];
  readonly statements: readonly string[];
  readonly change: (value: T) => void;
}

/** A field with its label; `problem` is why Python refuses what was entered, "" where it does not. */
export function FieldRow(props: {
  field: Field;
  value: Entered;
  problem: string;
  known: readonly string[];
  statements: readonly string[];
  change: (value: Entered) => void;
}): JSX.Element {
  const { field, problem } = props;
  const id = useId();
  const wrong = problem ? { "aria-invalid": true, "aria-describedby": `${id}error` } : {};
  return (
    <div className="wbk-step-field">
      <label id={`${id}label`} htmlFor={id}>
        {field.label}
        {!field.required && <span className="wbk-faint"> {field.optional ? "(may be left out)" : "(has a default)"}</span>}
      </label>
      {input({ ...props, id, wrong })}
      {problem && (
        <p id={`${id}error`} className="wbk-field-error" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** So few names are all shown to be chosen from. */
const FEW = 12;

function input(props: Props<Entered>): JSX.Element {
  const { field, known } = props;
  switch (field.kind) {
    case "choice":
      return <Choice {...(props as Props<string>)} choices={field.choices} />;
    case "name": {
      const few = ["dim", "loop"].includes(field.names) && known.length <= FEW;
      return few ? <Choice {...(props as Props<string>)} choices={known} /> : <Name {...(props as Props<string>)} />;
    }
    case "number":
      return <WholeNumber {...(props as Props<string>)} />;
    case "names":
      return <Names {...(props as Props<readonly string[]>)} />;
    case "pairs":
      return <Pairs {...(props as Props<readonly Pair[]>)} />;
  }
}

function Known({ id, names }: { id: string; names: readonly string[] }): JSX.Element {
  return (
    <datalist id={id}>
      {names.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

/** As many names as can be read at a glance. */
function someOf(names: readonly string[]): string {
  return names.slice(0, 6).join(", ") + (names.length > 6 ? ", …" : "");
}

/** One of a few: of the dimensions or loops, or of the values that there are. */
function Choice(props: Props<string> & { choices: readonly string[] }): JSX.Element {
  const { id, field, value, wrong, change, choices } = props;
  return (
    <select id={id} className="wbk-name-choice" value={value} onChange={(event) => change(event.target.value)} {...wrong}>
      {!field.preset && <option value="">{field.required ? "choose …" : "–"}</option>}
      {[...new Set([...choices, ...(value ? [value] : [])])].map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

/** One name, typed: those that are known are suggested. */
function Name({ id, known, value, wrong, change }: Props<string>): JSX.Element {
  return (
    <>
      <input
        id={id}
        className="wbk-name-input"
        list={`${id}known`}
        value={value}
        placeholder={someOf(known)}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => change(event.target.value)}
        {...wrong}
      />
      <Known id={`${id}known`} names={known} />
    </>
  );
}

/** A whole number; what is none stays as it was typed. */
function WholeNumber({ id, field, value, wrong, change }: Props<string>): JSX.Element {
  return (
    <input
      id={id}
      className="wbk-number-input"
      inputMode="numeric"
      autoComplete="off"
      placeholder={field.numbers}
      value={value}
      onChange={(event) => change(event.target.value)}
      {...wrong}
    />
  );
}

/** Any number of names, each a chip. */
function Names({ id, field, known, value, wrong, statements, change }: Props<readonly string[]>): JSX.Element {
  const [typed, setTyped] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const missing = field.names === "statement" ? statements.filter((name) => !value.includes(name)) : [];

  function add(more: readonly string[]): void {
    const fresh = more.map((name) => name.trim()).filter((name) => name && !value.includes(name));
    if (fresh.length) change([...value, ...fresh]);
    setTyped("");
  }

  return (
    <div className="wbk-names" onClick={(event) => event.target === event.currentTarget && input.current?.focus()}>
      {value.map((name) => (
        <span key={name} className="wbk-chip">
          {name}
          <button
            type="button"
            aria-label={`Without ${name}`}
            onClick={() => change(value.filter((other) => other !== name))}
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
        placeholder={value.length ? "" : someOf(known)}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          const text = event.target.value;
          if (isChoice(event.nativeEvent) && known.includes(text)) add([text]);
          else setTyped(text);
        }}
        {...wrong}
        onBlur={() => add([typed])}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault(); // it ends a name and not the form
            add([typed]);
          } else if (event.key === "Backspace" && !typed) change(value.slice(0, -1));
        }}
      />
      {missing.length > 0 && (
        <button className="wbk-button wbk-link" type="button" onClick={() => add(missing)}>
          add the {missing.length} selected
        </button>
      )}
      <Known id={`${id}known`} names={known.filter((name) => !value.includes(name))} />
    </div>
  );
}

/** Whether a suggestion was chosen, and not a letter typed: names may begin with other names. */
function isChoice(event: Event): boolean {
  return !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
}

/** Names with a whole number each, such as shifts. */
function Pairs({ id, known, value, wrong, change }: Props<readonly Pair[]>): JSX.Element {
  const set = (position: number, pair: Pair): void =>
    change(value.map((old, place) => (place === position ? pair : old)));
  return (
    <div id={id} className="wbk-pairs" role="group" aria-labelledby={`${id}label`}>
      {value.map(([name, number], position) => (
        <div key={position} className="wbk-pair">
          <input
            className="wbk-name-input"
            aria-label="Name"
            list={`${id}known`}
            value={name}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set(position, [event.target.value, number])}
            {...wrong}
          />
          <input
            className="wbk-number-input"
            inputMode="numeric"
            aria-label={`Number for ${name || "the name"}`}
            value={number}
            onChange={(event) => set(position, [name, event.target.value])}
            {...wrong}
          />
          <button
            className="wbk-icon"
            type="button"
            aria-label={`Without ${name}`}
            onClick={() => change(value.filter((_, place) => place !== position))}
          >
            ×
          </button>
        </div>
      ))}
      <button className="wbk-button wbk-link" type="button" onClick={() => change([...value, ["", "1"]])}>
        add one
      </button>
      <Known id={`${id}known`} names={known} />
    </div>
  );
}
