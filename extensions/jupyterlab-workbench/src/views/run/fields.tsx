// The fields of a run: backend, dtype and sizes, which all that measures shares.

import { useState } from "react";
import { useSelection, useStore, useWorkbench } from "../../model/hooks";
import { changedSizes, runSizes } from "../compare/measured";

export function RunFields(): JSX.Element {
  return (
    <>
      <Backend />
      <Dtype />
      <SizeInputs />
    </>
  );
}

function Backend(): JSX.Element {
  const { backends } = useWorkbench();
  const { backend } = useSelection();
  const store = useStore();
  return (
    <label className="wbk-field">
      <span>backend</span>
      <select value={backend} onChange={(event) => store.select({ backend: event.target.value })}>
        {backends.map(({ name, reason }) => (
          <option key={name} value={name} disabled={reason !== ""} title={reason}>
            {reason ? `${name} (${reason})` : name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Dtype(): JSX.Element {
  const { dtype } = useSelection();
  const store = useStore();
  return (
    <label className="wbk-field">
      <span>dtype</span>
      <select
        value={dtype}
        onChange={(event) => store.select({ dtype: event.target.value === "float64" ? "float64" : "float32" })}
      >
        <option>float32</option>
        <option>float64</option>
      </select>
    </label>
  );
}

function SizeInputs(): JSX.Element {
  const { sizes: known } = useWorkbench();
  const { sizes } = useSelection();
  const store = useStore();
  return (
    <span className="wbk-sizes">
      {known
        .filter((size) => size.derived === null)
        .map((size) => (
          <SizeInput
            key={`${size.name} ${sizes[size.name] ?? size.default}`}
            name={size.name}
            value={sizes[size.name] ?? size.default}
            set={(value) =>
              store.select({ sizes: changedSizes(known, { ...runSizes(known, sizes), [size.name]: value }) })
            }
          />
        ))}
    </span>
  );
}

/** A number field that takes effect when it is left, or at Enter: every value in between would be predicted anew. */
function SizeInput(props: { name: string; value: number; set: (value: number) => void }): JSX.Element {
  const { name, value, set } = props;
  const [text, setText] = useState(String(value));
  const [isLeft, setLeft] = useState(false);
  const refused = isLeft && !isSize(text);
  const done = (): void => {
    setLeft(true);
    if (isSize(text) && Number(text) !== value) set(Number(text));
  };
  return (
    <label className="wbk-field">
      <span>{name}</span>
      <input
        className="wbk-size"
        type="number"
        min="1"
        value={text}
        aria-invalid={refused}
        onChange={(event) => {
          setLeft(false);
          setText(event.target.value);
        }}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          done();
        }}
      />
      {refused && (
        <span className="wbk-field-error" role="alert">
          {name} is a whole number from 1 on, not {text || "nothing"}; it stays {value}
        </span>
      )}
    </label>
  );
}

/** Tells whether a text is a size. */
const isSize = (text: string): boolean => Number.isSafeInteger(Number(text)) && Number(text) >= 1;
