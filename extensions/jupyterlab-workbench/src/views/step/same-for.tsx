// A step that is open while another statement gets selected: the same is asked of that one, and the former answer stands
// beside the new one.

import { useState } from "react";
import { usePart, useSelection, useStore } from "../../model/hooks";
import type { Node, StepView, TransformView } from "../../protocol";
import { fieldsOf } from "./step-schema";
import { openContrast, openStep, stepOf, type StepJson } from "./steps";

/** Tells what was selected meanwhile, and offers the same step for that statement, or its moves. */
export function SelectedMeanwhile({ step }: { step: StepView }): JSX.Element | null {
  const store = useStore();
  const { statements } = useSelection();
  const [before] = useState(statements);
  const nodes = usePart("snapshot", {}).value?.nodes ?? [];
  const transforms = usePart("moves", {}).value?.transforms ?? [];
  const [other, ...more] = statements.filter((name) => !before.includes(name) && !step.statements.includes(name));
  if (other === undefined) return null;
  const transform = transforms.find(({ name }) => name === step.transform);
  const node = nodes.find(({ id }) => id === other);
  const same = transform && node && !more.length && sameFor(step.json, transform, node);
  return (
    <p className="wbk-meanwhile" role="status">
      <span>
        Selected meanwhile: <code>{other}</code>
        {more.length > 0 && ` and ${more.length} more`}
      </span>
      {same && (
        <button className="wbk-button" type="button" onClick={() => openContrast(store, same, step.json)}>
          {[step.transform, ...step.dims].join(" ")} of {other}
        </button>
      )}
      <button className="wbk-button wbk-link" type="button" onClick={() => openStep(store, null)}>
        Show {more.length ? "their" : "its"} moves
      </button>
    </p>
  );
}

/** Returns the step for another statement; undefined for one that names none or several apart. */
export function sameFor(step: StepJson, transform: TransformView, node: Node): StepJson | undefined {
  const about = fieldsOf(transform).filter(({ names }) => names === "statement" || names === "array");
  const [field] = about;
  const given = step["arguments"] as Readonly<Record<string, unknown>>;
  const before = field && given[field.argument];
  if (!field || about.length > 1 || (Array.isArray(before) && before.length > 1)) return undefined;
  const name = field.names === "array" ? node.array : node.id;
  return { ...step, arguments: { ...given, [field.argument]: field.kind === "names" ? [name] : name } };
}

/** What is said of the same step for the statement before. */
export function Contrast(): JSX.Element | null {
  const { contrast } = useSelection();
  const step = contrast === null ? null : stepOf(contrast);
  return step && <Before step={step} />;
}

function Before({ step }: { step: StepJson }): JSX.Element | null {
  const store = useStore();
  const { backend } = useSelection();
  const { value } = usePart("preview", { step, backend });
  if (!value) return null;
  const { text } = value.step;
  return (
    <p className="wbk-contrast">
      <button className="wbk-button wbk-link" type="button" onClick={() => openStep(store, step)}>
        {text}
      </button>{" "}
      {value.refusal ? (
        <>
          is refused: {value.refusal.sentence.replace(`${text}: `, "")}
        </>
      ) : (
        <Legal step={step} />
      )}
    </p>
  );
}

function Legal({ step }: { step: StepJson }): JSX.Element {
  const { value } = usePart("reason", { step, sizes: null });
  return <>is legal{value && `: ${value.sentence}`}</>;
}
