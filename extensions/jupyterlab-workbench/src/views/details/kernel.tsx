// The source of a statement: its lines in the loops of the generated source.

import { usePart, useSelection, useStore } from "../../model/hooks";
import { Waiting } from "../../waiting";
import type { TextView } from "../../protocol";
import { mainSpan, spansOf } from "../code/editor";

/** The most lines that are shown; the whole source has the rest. */
const MOST = 12;

export function Kernel({ statement }: { statement: string }): JSX.Element {
  const store = useStore();
  const { backend } = useSelection();
  const loaded = usePart("code", { backend });
  const source = loaded.value?.source;
  if (!source) return <Waiting loaded={loaded} what="the kernel" />;
  const lines = kernelOf(source, statement);
  if (!lines.length) return <p className="wbk-facts">It has no line of its own.</p>;
  return (
    <>
      <pre className="wbk-code wbk-kernel">{lines.slice(0, MOST).join("\n")}</pre>
      {source.remark && <p className="wbk-facts">{source.remark}</p>}
      <button
        className="wbk-button wbk-link"
        type="button"
        onClick={() => store.select({ line: null, level: "python", pane: "code" })}
      >
        {lines.length > MOST ? `All ${lines.length} lines, in the source` : "Show in the source"}
      </button>
    </>
  );
}

/** Returns most of a statement's lines, moved to the left. */
export function kernelOf(source: TextView, statement: string): readonly string[] {
  const span = mainSpan(spansOf(source, [statement]));
  if (!span) return [];
  const lines = source.text.split("\n").slice(span.first, span.last + 1);
  const least = Math.min(...lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(least));
}
