// The graph as a step would make it: what differs is boxed, what is gone stays as a ghost, and both are listed.

import { useCallback, useMemo, useState } from "react";
import { around } from "../../graph/around";
import { type Changes, changes } from "../../graph/diff";
import { SmallGraph } from "../../graph/drawing/small";
import { useStore } from "../../model/hooks";
import type { Node, Snapshot } from "../../protocol";

const LISTED = 12;

export function GraphAfter({ before, after }: { before: Snapshot; after: Snapshot }): JSX.Element {
  const store = useStore();
  const [whole, setWhole] = useState(false);
  const found = useMemo(() => changes(before, after), [before, after]);
  const shown = useMemo(() => around(before, after, found, whole), [before, after, found, whole]);
  const known = useMemo(() => new Set(before.nodes.map((node) => node.id)), [before]);
  const choose = useCallback(
    (id: string) => {
      if (known.has(id)) store.select({ statements: [id], scope: null, instance: null });
    },
    [store, known],
  );
  const groups = grouped(found, after);
  if (!found.changed.size && !found.gone.length) {
    return (
      <section className="wbk-graph-after" aria-label="Graph after the step">
        <h4>Graph</h4>
        <p className="wbk-hint">It stays as it is: only the order changes.</p>
      </section>
    );
  }
  return (
    <section className="wbk-graph-after" aria-label="Graph after the step">
      <div className="wbk-levels">
        <h4>Graph after the step</h4>
        {[false, true].map((all) => (
          <button
            key={String(all)}
            className="wbk-button"
            type="button"
            aria-pressed={whole === all}
            onClick={() => setWhole(all)}
          >
            {all ? "All" : "What changes"}
          </button>
        ))}
      </div>
      <SmallGraph snapshot={shown} changes={found} choose={choose} legend={<Legend {...found} whole={whole} />} />
      {groups.map((group) => (
        <Group key={group.word} {...group} known={known} choose={choose} />
      ))}
    </section>
  );
}

function Legend({ changed, gone, whole }: Changes & { whole: boolean }): JSX.Element {
  return (
    <>
      {changed.size > 0 && (
        <span className="wbk-entry">
          <span className="wbk-swatch wbk-boxed" /> differs ({changed.size})
        </span>
      )}
      {gone.length > 0 && (
        <span className="wbk-entry">
          <span className="wbk-swatch wbk-ghost" /> gone ({gone.length})
        </span>
      )}
      {!whole && <span>with what they read and what reads them</span>}
    </>
  );
}

interface Group {
  readonly word: string;
  readonly mark: string;
  readonly nodes: readonly Node[];
}

/** What differs, by how: new ones, those with another meaning, those that only stand in other loops or are only
 * kept elsewhere, gone ones. */
export function grouped({ changed, gone }: Changes, after: Snapshot): readonly Group[] {
  const [fresh, other, moved, kept]: [Node[], Node[], Node[], Node[]] = [[], [], [], []];
  for (const node of after.nodes) {
    const how = changed.get(node.id);
    if (how?.includes("new")) fresh.push(node);
    else if (how?.every((one) => one === "loops")) moved.push(node);
    else if (how?.every((one) => one === "storage")) kept.push(node);
    else if (how) other.push(node);
  }
  const groups = [
    { word: "new", mark: "+", nodes: fresh },
    { word: "changed", mark: "~", nodes: other },
    { word: "in other loops", mark: "↻", nodes: moved },
    { word: "in other storage", mark: "▤", nodes: kept },
    { word: "gone", mark: "−", nodes: gone },
  ];
  return groups.filter((group) => group.nodes.length > 0);
}

function Group(props: Group & { known: ReadonlySet<string>; choose: (id: string) => void }): JSX.Element {
  const { word, mark, nodes, known, choose } = props;
  const [all, setAll] = useState(false);
  const shown = all ? nodes : nodes.slice(0, LISTED);
  return (
    <div className={`wbk-changed wbk-changed-${word.split(" ")[0]}`}>
      <span className="wbk-changed-word">
        {nodes.length} {word}
      </span>
      <ul>
        {shown.map((node) => (
          <li key={node.id} title={node.equation}>
            <span aria-hidden="true">{mark} </span>
            {known.has(node.id) ? (
              <button className="wbk-button wbk-link" type="button" onClick={() => choose(node.id)}>
                {node.title}
              </button>
            ) : (
              <code>{node.equation}</code>
            )}
          </li>
        ))}
        {nodes.length > shown.length && (
          <li>
            <button className="wbk-button wbk-link" type="button" onClick={() => setAll(true)}>
              and {nodes.length - shown.length} more
            </button>
          </li>
        )}
      </ul>
    </div>
  );
}
