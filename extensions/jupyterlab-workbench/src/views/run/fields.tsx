// The fields of a run: backend, dtype and sizes, which all that measures shares.

import { useState } from "react";
import { useSelection, useStore, useWorkbench } from "../../model/hooks";
import { lastLengths } from "../../model/selection";
import { changedSizes, runSizes } from "../compare/measured";

/** `children` are further fields, in front of those whose remarks change. */
export function RunFields({ children }: { children?: React.ReactNode }): JSX.Element {
  return (
    <>
      <Backend />
      <Dtype />
      <SizeInputs />
      {children}
      <LengthInputs />
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

/** The expected steps of episodes along each dim along which they end. Predictions take them, runs find their own. */
function LengthInputs(): JSX.Element | null {
  const state = useWorkbench();
  const { lengths, sizes } = useSelection();
  const store = useStore();
  if (!state.ends.length) return null;
  const known = { ...Object.fromEntries(state.sizes.map((size) => [size.name, size.default])), ...sizes };
  return (
    <span className="wbk-sizes">
      {state.ends.map(({ dim, size }) => {
        const found = lastLengths(state, dim)?.lengths[dim];
        const { [dim]: set, ...others } = lengths;
        const most = known[size];
        return (
          <LengthInput
            key={`${dim} ${set} ${found} ${most}`}
            dim={dim}
            most={most}
            set={set}
            found={found}
            change={(value) => store.select({ lengths: value === undefined ? others : { ...others, [dim]: value } })}
          />
        );
      })}
    </span>
  );
}

function LengthInput(props: {
  dim: string;
  /** The number of steps that there are; undefined where it is an expression in sizes. */
  most: number | undefined;
  set: number | undefined;
  found: number | undefined;
  change: (value: number | undefined) => void;
}): JSX.Element {
  const { dim, most, set, found, change } = props;
  return (
    <NumberInput
      name={`steps of an episode along ${dim}`}
      title="Predicted times are of episodes of so many steps; runs find their own"
      value={set === undefined ? "" : String(set)}
      input={{ max: most, step: "any", placeholder: String(found === undefined ? (most ?? "") : rounded(found)) }}
      isTaken={(text) => text === "" || (Number(text) >= 1 && Number(text) <= (most ?? Infinity))}
      take={(text) => change(text === "" ? undefined : Number(text))}
      refusal={(text) => `an episode along ${dim} has from 1 to ${most} steps, not ${text}`}
      remark={basisText(set, found)}
    />
  );
}

/** Says where the length comes from that predictions take. */
function basisText(set: number | undefined, found: number | undefined): string {
  if (set !== undefined) return found === undefined ? "expected" : `expected; ${rounded(found)} in the last run`;
  return found === undefined ? "all of them, until a run measures it" : "measured by the last run";
}

const rounded = (length: number): number => Math.round(length * 10) / 10;

function SizeInput(props: { name: string; value: number; set: (value: number) => void }): JSX.Element {
  const { name, value, set } = props;
  return (
    <NumberInput
      name={name}
      value={String(value)}
      isTaken={isSize}
      take={(text) => set(Number(text))}
      refusal={(text) => `${name} is a whole number from 1 on, not ${text || "nothing"}; it stays ${value}`}
    />
  );
}

/** A number field that takes effect when it is left, or at Enter: every value in between would be predicted anew. What
 * it does not take it says. */
function NumberInput(props: {
  name: string;
  title?: string;
  value: string;
  input?: React.InputHTMLAttributes<HTMLInputElement>;
  isTaken: (text: string) => boolean;
  take: (text: string) => void;
  refusal: (text: string) => string;
  remark?: string;
}): JSX.Element {
  const { name, title, value, input, isTaken, take, refusal, remark } = props;
  const [text, setText] = useState(value);
  const [isLeft, setLeft] = useState(false);
  const refused = isLeft && !isTaken(text);
  const done = (): void => {
    setLeft(true);
    if (isTaken(text) && text !== value) take(text);
  };
  return (
    <label className="wbk-field" title={title}>
      <span>{name}</span>
      <input
        className="wbk-size"
        type="number"
        min="1"
        {...input}
        value={text}
        style={{ minWidth: `calc(${text.length}ch + 36px)` }}
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
      {refused ? (
        <span className="wbk-field-error" role="alert">
          {refusal(text)}
        </span>
      ) : (
        remark && <span className="wbk-faint">{remark}</span>
      )}
    </label>
  );
}

/** Tells whether a text is a size. */
const isSize = (text: string): boolean => Number.isSafeInteger(Number(text)) && Number(text) >= 1;
