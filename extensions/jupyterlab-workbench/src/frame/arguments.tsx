// The arguments of the watched template: changing one traces it anew, here as with the controls in the cell.

import { useId, useState } from "react";
import { useStore, useValues, useWorkbench } from "../model/hooks";
import type { ArgumentView } from "../protocol";
import { perform } from "./actions";

export function Arguments(): JSX.Element | null {
  const { arguments: given } = useWorkbench();
  const { status } = useValues();
  const store = useStore();
  if (!given.length || status !== "connected") return null;
  const change = (name: string, value: unknown): void =>
    void perform(store, () => store.ask({ type: "change", arguments: { [name]: value } }).then(() => undefined));
  return (
    <details className="wbk-arguments">
      <summary>Arguments</summary>
      <div className="wbk-bar">
        {given.map((one) => (
          <label className="wbk-field" key={one.name}>
            <span>{one.name}</span>
            <Control key={JSON.stringify(one.value)} argument={one} change={(value) => change(one.name, value)} />
          </label>
        ))}
      </div>
    </details>
  );
}

function Control(props: { argument: ArgumentView; change: (value: unknown) => void }): JSX.Element {
  const { argument, change } = props;
  const { kind, value, choices } = argument;
  if (choices.length) {
    return (
      <select value={choices.indexOf(value)} onChange={(event) => change(choices[Number(event.target.value)])}>
        {choices.map((choice, at) => (
          <option key={at} value={at}>
            {String(choice)}
          </option>
        ))}
      </select>
    );
  }
  if (kind === "boolean") {
    return <input type="checkbox" checked={value === true} onChange={(event) => change(event.target.checked)} />;
  }
  if (kind === "other" && !Array.isArray(value)) return <code>{String(value)}</code>;
  return <Typed argument={argument} change={change} />;
}

const EXPECTED: Readonly<Record<ArgumentView["kind"], string>> = {
  size: "a whole number of at least 1",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  text: "a text",
  other: "a list such as [16, 16]",
};

/** A text field that takes effect when it is left, or at Enter. A text of the wrong kind stays, marked as wrong. */
function Typed(props: { argument: ArgumentView; change: (value: unknown) => void }): JSX.Element {
  const { argument, change } = props;
  const before = argument.kind === "text" ? String(argument.value) : JSON.stringify(argument.value);
  const [text, setText] = useState(before);
  const [wrong, setWrong] = useState("");
  const id = useId();
  const done = (): void => {
    const value = text === before ? argument.value : valueOf(argument, text);
    setWrong(value === undefined ? `${argument.name} is ${text.trim() || "empty"}; expected ${EXPECTED[argument.kind]}` : "");
    if (value !== undefined && text !== before) change(value);
  };
  return (
    <>
      <input
        type="text"
        size={Math.min(24, Math.max(5, before.length + 1))}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key === "Enter") done();
          if (event.key !== "Escape") return;
          setText(before);
          setWrong("");
        }}
        {...(wrong && { "aria-invalid": true, "aria-describedby": id })}
      />
      {wrong && (
        <span id={id} className="wbk-field-error" role="alert">
          {wrong}
        </span>
      )}
    </>
  );
}

/** Reads a text as a value; undefined where it is none of the argument's kind. */
export function valueOf({ kind, value }: ArgumentView, text: string): unknown {
  if (kind === "text") return text;
  let found: unknown;
  try {
    found = JSON.parse(text.trim().replace(/^\((.*?),?\)$/, "[$1]"));
  } catch {
    return undefined;
  }
  if (kind === "other") return Array.isArray(found) === Array.isArray(value) ? found : undefined;
  if (typeof found !== "number") return undefined;
  if (kind === "number") return found;
  return Number.isInteger(found) && (kind !== "size" || found >= 1) ? found : undefined;
}
