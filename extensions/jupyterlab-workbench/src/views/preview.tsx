// What a step would make of the program: costs before and after, statements that change, the loop program compared.

import { useEffect, useMemo, useRef, useState } from "react";
import { usePart, useSelection, useStore } from "../model/hooks";
import { Waiting } from "../parts";
import type { CodeView, Node, PreviewView, Snapshot, TextView } from "../protocol";
import { editor } from "./editor";
import { changes, changeText, direction } from "./price";
import type { StepJson } from "./steps";

const LISTED = 12;

export function Preview({ preview }: { preview: PreviewView }): JSX.Element {
  const { backend } = useSelection();
  const now = usePart("snapshot", {});
  const code = usePart("code", { backend });
  return (
    <div className="wbk-preview">
      <Costs step={preview.step.json} />
      <Notes notes={preview.notes} />
      {now.value && preview.snapshot && <Statements before={now.value} after={preview.snapshot} />}
      {code.value && preview.code ? (
        <Differences before={code.value} after={preview.code} />
      ) : (
        <Waiting loaded={code} what="the code" />
      )}
    </div>
  );
}

/** What it costs before and after, as soon as it is predicted. */
function Costs({ step }: { step: StepJson }): JSX.Element {
  const { sizes, backend, dtype } = useSelection();
  const before = usePart("cost", { sizes, backend, dtype });
  const after = usePart("price", { step, sizes, backend, dtype });
  if (!before.value || !after.value) {
    const missing = [before, after].find((one) => one.status === "failed" || one.status === "absent");
    if (missing?.error) return <p className="wbk-hint">No prediction: {missing.error.sentence}</p>;
    return <Waiting loaded={missing ?? after} what="the estimate" />;
  }
  return (
    <table className="wbk-costs">
      <caption>Estimated, not measured</caption>
      <tbody>
        {changes(before.value, after.value).map((change) => (
          <tr key={change.name}>
            <th scope="row">{change.name}</th>
            <td>{change.text(change.before)}</td>
            <td aria-hidden="true">→</td>
            <td>{change.text(change.after)}</td>
            <td>
              <span className={`wbk-price ${direction(change)}`}>{changeText(change)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Notes({ notes }: { notes: readonly string[] }): JSX.Element | null {
  if (!notes.length) return null;
  return (
    <details className="wbk-notes">
      <summary>
        {notes.length} note{notes.length > 1 ? "s" : ""}: what stays as it is
      </summary>
      <ul>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </details>
  );
}

export interface Changed {
  readonly fresh: readonly Node[];
  readonly gone: readonly Node[];
  readonly other: readonly Node[];
}

/** What is computed differently, by what it means: equation, domain, what is read and written. */
export function changedStatements(before: Snapshot, after: Snapshot): Changed {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const now = new Set(after.nodes.map((node) => node.id));
  return {
    fresh: after.nodes.filter((node) => !old.has(node.id)),
    gone: before.nodes.filter((node) => !now.has(node.id)),
    other: after.nodes.filter((node) => {
      const was = old.get(node.id);
      return was !== undefined && meaning(was) !== meaning(node);
    }),
  };
}

function meaning(node: Node): string {
  return JSON.stringify([node.equation, node.domain, node.reduction, node.write, node.reads]);
}

function Statements({ before, after }: { before: Snapshot; after: Snapshot }): JSX.Element {
  const found = useMemo(() => changedStatements(before, after), [before, after]);
  const none = !found.fresh.length && !found.gone.length && !found.other.length;
  return (
    <>
      <h4>Statements</h4>
      {none ? (
        <p className="wbk-hint">The equations stay as they are: only order or storage change.</p>
      ) : (
        <>
          <Kind word="new" mark="+" nodes={found.fresh} />
          <Kind word="changed" mark="~" nodes={found.other} select />
          <Kind word="gone" mark="−" nodes={found.gone} select />
        </>
      )}
    </>
  );
}

function Kind(props: { word: string; mark: string; nodes: readonly Node[]; select?: boolean }): JSX.Element | null {
  const store = useStore();
  const { word, mark, nodes, select } = props;
  if (!nodes.length) return null;
  const more = nodes.length - LISTED;
  return (
    <div className={`wbk-changed wbk-changed-${word}`}>
      <span className="wbk-changed-word">
        {nodes.length} {word}
      </span>
      <ul>
        {nodes.slice(0, LISTED).map((node) => (
          <li key={node.id} title={node.equation}>
            <span aria-hidden="true">{mark} </span>
            {select ? (
              <button
                className="wbk-button wbk-link"
                type="button"
                onClick={() => store.select({ statements: [node.id], scope: null, instance: null })}
              >
                {node.title}
              </button>
            ) : (
              <code>{node.equation}</code>
            )}
          </li>
        ))}
        {more > 0 && <li className="wbk-faint">and {more} more</li>}
      </ul>
    </div>
  );
}

type Level = "equations" | "schedule" | "loops";

const LEVELS: readonly { readonly level: Level; readonly title: string }[] = [
  { level: "equations", title: "Equations" },
  { level: "schedule", title: "Order" },
  { level: "loops", title: "Loops" },
];

/** The program before and after, on the first level that shows a difference. */
function Differences({ before, after }: { before: CodeView; after: CodeView }): JSX.Element {
  const changed = LEVELS.filter(({ level }) => before[level].text !== after[level].text);
  const [chosen, setChosen] = useState<Level | null>(null);
  const shown = changed.find(({ level }) => level === chosen) ?? changed[0];
  return (
    <>
      <div className="wbk-levels">
        <h4>Program, before and after</h4>
        {changed.map(({ level, title }) => (
          <button
            key={level}
            className="wbk-button"
            type="button"
            aria-pressed={level === shown?.level}
            onClick={() => setChosen(level)}
          >
            {title}
          </button>
        ))}
      </div>
      {shown ? (
        <Difference before={before[shown.level].text} after={after[shown.level]} name={shown.title} />
      ) : (
        <p className="wbk-hint">It stays as it is on every level.</p>
      )}
    </>
  );
}

function Difference({ before, after, name }: { before: string; after: TextView; name: string }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const store = useStore();
  const known = usePart("snapshot", {}).value;
  useEffect(() => {
    const host = place.current;
    if (!host) return undefined;
    const view = editor(host, { text: after, original: before }, `${name} after the step`, (statement) => {
      if (!known?.nodes.some((node) => node.id === statement)) return;
      if (statement !== null) store.select({ statements: [statement], scope: null, instance: null });
    });
    return () => view.destroy();
  }, [before, after, name, known, store]);
  return <div className="wbk-preview-code" ref={place} />;
}
