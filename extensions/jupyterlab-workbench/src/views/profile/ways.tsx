// The ways from something that ran to its place in the graph, its line, the loops and the text of its kernel.

import { useLineInNotebook, usePart, useStore } from "../../model/hooks";
import type { LaneView, LineView } from "../../protocol";
import { languageOf } from "../code/kernels";

export function Ways({ lane, backend }: { lane: LaneView; backend: string }): JSX.Element | null {
  const store = useStore();
  const { value: snapshot } = usePart("snapshot", {});
  const [first, ...more] = lane.statements;
  const line = snapshot?.nodes.find(({ id }) => id === first)?.line ?? null;
  if (first === undefined) return null;
  const language = languageOf(backend);
  const select = { statements: lane.statements, scope: null, instance: null, line: null };
  return (
    <p className="wbk-ways">
      <b>{first}</b>
      {more.length > 0 && <span className="wbk-note">and {more.length} more in it</span>}
      <Place line={line} />
      <button
        className="wbk-button wbk-link"
        type="button"
        onClick={() => store.select({ ...select, level: "loops", pane: "code" })}
      >
        in the loops
      </button>
      <button
        className="wbk-button wbk-link"
        type="button"
        onClick={() => store.select({ ...select, level: language ?? "python", kernel: lane.name, pane: "code" })}
      >
        {language ? "kernel text" : "its code"}
      </button>
    </p>
  );
}

/** The user's line: a button where it stands in the notebook, else where it is. */
function Place({ line }: { line: LineView | null }): JSX.Element | null {
  const show = useLineInNotebook(line);
  if (!line) return null;
  if (!show) return <code title={line.text.trim()}>{line.place}</code>;
  return (
    <button className="wbk-button wbk-link" type="button" title={line.text.trim()} onClick={show}>
      {line.place}
    </button>
  );
}
