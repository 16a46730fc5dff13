// Program and code: equations, order, loop program and the source that runs, line by line with its statement.

import type { EditorView } from "@codemirror/view";
import { useEffect, useRef, useState } from "react";
import { useCurrent, usePart, useSelection, useStore, useWorkbench } from "../../model/hooks";
import type { Level } from "../../model/selection";
import { Waiting } from "../../waiting";
import type { CodeView, TextView } from "../../protocol";
import { begin, editor, mark, reveal, spansOf } from "./editor";

const LEVELS: readonly { readonly name: Level; readonly title: string; readonly says: string }[] = [
  { name: "equations", title: "Equations", says: "What is computed" },
  { name: "order", title: "Order", says: "When: the schedule" },
  { name: "loops", title: "Loops", says: "The loop program, with memory" },
  { name: "source", title: "Source", says: "What runs" },
];

export function Code(): JSX.Element {
  const { backend, level } = useSelection();
  const current = useCurrent();
  const [against, setAgainst] = useState("");
  const loaded = usePart("code", { backend });
  const there = useComparable(against, current.key);
  const other = usePart("code", { backend }, there || current.key);
  const text = loaded.value && textOf(loaded.value, level);
  const original = there && other.value ? textOf(other.value, level) : null;
  return (
    <div className="wbk-view wbk-code-view">
      <div className="wbk-bar">
        <Levels level={level} />
        <Against chosen={against} choose={setAgainst} />
      </div>
      {text?.remark && <p className="wbk-hint">{text.remark}</p>}
      {there && other.status !== "done" && <Waiting loaded={other} what="the other variant's code" />}
      {there && original && text && <Difference text={text} original={original} />}
      {text ? (
        <Text text={text} original={original?.text ?? null} level={level} name={`${current.key} ${level}`} />
      ) : (
        <Waiting loaded={loaded} what="the code" />
      )}
    </div>
  );
}

function textOf(code: CodeView, level: Level): TextView | null {
  if (level === "equations") return code.equations;
  if (level === "order") return code.schedule;
  return level === "loops" ? code.loops : (code.kernels[0] ?? null);
}

/** Returns the key of the variant to compare with: "parent" follows the shown variant; "" where there is none. */
function useComparable(against: string, current: string): string {
  const { variants } = useWorkbench();
  const own = variants.find((variant) => variant.key === current);
  const key = against === "parent" ? (own?.parent ?? "") : against;
  return key !== current && variants.some((variant) => variant.key === key) ? key : "";
}

function Levels({ level }: { level: Level }): JSX.Element {
  const store = useStore();
  return (
    <div className="wbk-segments" role="group" aria-label="Level">
      {LEVELS.map((one) => (
        <button
          key={one.name}
          type="button"
          title={one.says}
          aria-pressed={one.name === level}
          onClick={() => store.select({ level: one.name })}
        >
          {one.title}
        </button>
      ))}
    </div>
  );
}

function Against({ chosen, choose }: { chosen: string; choose: (key: string) => void }): JSX.Element {
  const { variants } = useWorkbench();
  const current = useCurrent();
  return (
    <label className="wbk-field">
      <span>Changes since</span>
      <select value={chosen} onChange={(event) => choose(event.target.value)}>
        <option value="">(not compared)</option>
        {current.parent !== null && <option value="parent">the step before</option>}
        {variants
          .filter((variant) => variant.key !== current.key)
          .map((variant) => (
            <option key={variant.key} value={variant.key}>
              {variant.name}
            </option>
          ))}
      </select>
    </label>
  );
}

function Difference({ text, original }: { text: TextView; original: TextView }): JSX.Element | null {
  if (text.text !== original.text) return null;
  return <p className="wbk-hint">The same text in both: the step changed nothing on this level.</p>;
}

function Text(props: { text: TextView; original: string | null; level: Level; name: string }): JSX.Element {
  const { text, original, level, name } = props;
  const { statements, line } = useSelection();
  const store = useStore();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const pressed = useRef(false);
  const fresh = useRef(true);
  const title = LEVELS.find((one) => one.name === level)?.title ?? "";

  useEffect(() => {
    if (!host.current) return undefined;
    const made = editor(host.current, { text, original }, title, (statement) => {
      pressed.current = true;
      store.select({ statements: statement === null ? [] : [statement], scope: null, instance: null, line: null });
    });
    view.current = made;
    fresh.current = text.start > 0 || original !== null;
    return () => {
      view.current = null;
      made.destroy();
    };
  }, [name, text, original, title, store]);

  const at = level === "loops" ? line : null;
  useEffect(() => {
    if (!view.current) return;
    const first = mark(view.current, text, statements, at);
    if (first === null && fresh.current) begin(view.current, text);
    if (first !== null && !pressed.current) reveal(view.current, first);
    fresh.current = pressed.current = false;
  }, [name, text, original, statements, at]);

  const [first] = statements;
  const missing = first !== undefined && !spansOf(text, statements).length;
  return (
    <>
      {missing && <p className="wbk-hint">{first} has no line here.</p>}
      <div className="wbk-editor" ref={host} />
    </>
  );
}
