// Sizes of a picture, each of which can be set.

import { useEffect, useId, useState } from "react";
import { useWorkbench } from "../../model/hooks";
import type { Sizes } from "../../model/selection";

/** `sizes` are those drawn; `set` gets all that can be set, one of them changed. Derived sizes follow. */
export function SmallSizes(props: {
  sizes: Sizes;
  used?: readonly string[];
  set: (sizes: Sizes) => void;
}): JSX.Element {
  const { sizes, used, set } = props;
  const known = useWorkbench().sizes.filter((size) => size.name in sizes);
  const free = known.filter((size) => size.derived === null);
  const all = Object.fromEntries(free.map((size) => [size.name, sizes[size.name] ?? size.default]));
  const shown = free.filter((size) => !used || used.includes(size.name));
  const derived = known.filter((size) => size.derived !== null && (!used || used.includes(size.name)));
  return (
    <div className="wbk-small-sizes" role="group" aria-label="Sizes of the picture">
      {shown.map((size) => (
        <OneSize
          key={size.name}
          name={size.name}
          value={all[size.name] ?? 1}
          set={(value) => set({ ...all, [size.name]: value })}
        />
      ))}
      {derived.map((size) => (
        <span key={size.name} className="wbk-derived" title={`${size.name} = ${size.derived}`}>
          {size.name} = {sizes[size.name]}
        </span>
      ))}
    </div>
  );
}

/** A number field. A number is taken once it is complete, as the typed text may be none yet. */
function OneSize(props: { name: string; value: number; set: (value: number) => void }): JSX.Element {
  const { name, value, set } = props;
  const [text, setText] = useState(String(value));
  useEffect(() => setText(String(value)), [value]);
  const number = Number(text);
  const fits = text.trim() !== "" && Number.isInteger(number) && number >= 1;
  const id = useId();
  return (
    <label className="wbk-one-size">
      {name} ={" "}
      <input
        inputMode="numeric"
        value={text}
        aria-invalid={!fits}
        {...(!fits && { "aria-describedby": id })}
        onKeyDown={(event) => {
          const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
          if (!step || !fits || number + step < 1) return;
          event.preventDefault();
          event.stopPropagation();
          set(number + step);
        }}
        onChange={(event) => {
          setText(event.target.value);
          const now = Number(event.target.value);
          if (event.target.value.trim() !== "" && Number.isInteger(now) && now >= 1) set(now);
        }}
      />
      {!fits && (
        <span id={id} className="wbk-field-error" role="alert">
          {name} is {text.trim() ? text : "empty"}; expected a whole number of at least 1
        </span>
      )}
    </label>
  );
}
