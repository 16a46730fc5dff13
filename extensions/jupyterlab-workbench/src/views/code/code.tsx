// Program and code: equations, order, loop program and what runs, line by line with its statement.

import { useState } from "react";
import { useCurrent, usePart, useSelection, useStore, useWorkbench } from "../../model/hooks";
import { pathName } from "../../model/naming";
import type { Language, Level } from "../../model/selection";
import { Waiting } from "../../waiting";
import type { CodeView, TextView } from "../../protocol";
import { Kernels } from "./kernels";
import { Same, Text } from "./text";

const LEVELS: readonly { readonly name: Level; readonly title: string; readonly says: string }[] = [
  { name: "equations", title: "Equations", says: "What is computed" },
  { name: "order", title: "Order", says: "When: the schedule" },
  { name: "loops", title: "Loops", says: "The loop program, with memory" },
  { name: "python", title: "Python", says: "What runs on array backends" },
  { name: "c", title: "C", says: "What runs on native: compiled kernels" },
  { name: "cuda", title: "CUDA", says: "What runs on cuda: kernels of a GPU" },
];

export function Code(): JSX.Element {
  const { level } = useSelection();
  const [against, setAgainst] = useState("");
  const there = useComparable(against, useCurrent().key);
  return (
    <div className="wbk-view wbk-code-view">
      <div className="wbk-bar">
        <Levels level={level} />
        <Against chosen={against} choose={setAgainst} />
      </div>
      {level === "c" || level === "cuda" ? (
        <Kernels language={level} against={there} />
      ) : (
        <Whole level={level} against={there} />
      )}
    </div>
  );
}

/** The program's text at a level that has a single one. */
function Whole({ level, against }: { level: Exclude<Level, Language>; against: string }): JSX.Element {
  const { backend, line } = useSelection();
  const current = useCurrent();
  const loaded = usePart("code", { backend });
  const other = usePart("code", { backend }, against || current.key);
  const text = loaded.value && textOf(loaded.value, level);
  const original = against && other.value ? textOf(other.value, level) : null;
  const title = LEVELS.find((one) => one.name === level)?.title ?? "";
  return (
    <>
      {text?.remark && <p className="wbk-hint">{text.remark}</p>}
      {against && other.status !== "done" && <Waiting loaded={other} what="the other variant's code" />}
      {original && text && (
        <Same text={text} original={original}>
          {loaded.value && other.value && <Differing one={loaded.value} other={other.value} />}
        </Same>
      )}
      {text ? (
        <Text
          text={text}
          original={original?.text ?? null}
          title={title}
          line={level === "loops" ? line : null}
          name={`${current.key} ${level}`}
        />
      ) : (
        <Waiting loaded={loaded} what="the code" />
      )}
    </>
  );
}

/** Ways to the levels on which two variants differ. */
function Differing({ one, other }: { one: CodeView; other: CodeView }): JSX.Element | null {
  const store = useStore();
  const differs = ({ name }: (typeof LEVELS)[number]): boolean =>
    name !== "c" && name !== "cuda" && textOf(one, name).text !== textOf(other, name).text;
  const levels = LEVELS.filter(differs);
  if (!levels.length) return null;
  return (
    <>
      {" It did on "}
      {levels.map(({ name, title }, place) => (
        <span key={name}>
          {place > 0 && ", "}
          <button className="wbk-button wbk-link" type="button" onClick={() => store.select({ level: name })}>
            {title}
          </button>
        </span>
      ))}
      .
    </>
  );
}

function textOf(code: CodeView, level: Exclude<Level, Language>): TextView {
  if (level === "equations") return code.equations;
  if (level === "order") return code.schedule;
  return level === "loops" ? code.loops : code.source;
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
              {pathName(variant, variants)}
            </option>
          ))}
      </select>
    </label>
  );
}
