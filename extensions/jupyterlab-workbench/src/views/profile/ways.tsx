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
      <ToText kernel={lane.name} statements={lane.statements} backend={backend} />
    </p>
  );
}

/** The way to the text of a kernel, or to the lines of what ran where nothing is compiled. */
export function ToText(props: { kernel: string; statements: readonly string[]; backend: string }): JSX.Element {
  const { kernel, statements, backend } = props;
  const store = useStore();
  const language = languageOf(backend);
  return (
    <button
      className="wbk-button wbk-link"
      type="button"
      onClick={() =>
        store.select({ statements, scope: null, instance: null, line: null, level: language ?? "python", kernel, pane: "code" })
      }
    >
      {language ? "kernel text" : "its code"}
    </button>
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
