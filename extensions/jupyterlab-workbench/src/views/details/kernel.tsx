// The code that runs a statement: its lines in the generated source, or in its compiled kernel.

import { usePart, useSelection, useStore } from "../../model/hooks";
import { Waiting } from "../../waiting";
import type { KernelView, TextView } from "../../protocol";
import { mainSpan, spansOf } from "../code/editor";
import type { Language } from "../../model/selection";
import { BACKENDS, languageOf, shownKernel } from "../code/kernels";

/** The most lines that are shown; the whole text has the rest. */
const MOST = 12;

export function Kernel({ statement }: { statement: string }): JSX.Element {
  const { backend } = useSelection();
  const language = languageOf(backend);
  return language ? <InKernels language={language} statement={statement} /> : <InSource statement={statement} />;
}

function InSource({ statement }: { statement: string }): JSX.Element {
  const store = useStore();
  const { backend } = useSelection();
  const loaded = usePart("code", { backend });
  if (!loaded.value) return <Waiting loaded={loaded} what="the kernel" />;
  const { source } = loaded.value;
  const show = (): void => store.select({ line: null, level: "python", pane: "code" });
  return <Excerpt text={source} statement={statement} remark={source.remark} whole="the source" show={show} />;
}

function InKernels({ language, statement }: { language: Language; statement: string }): JSX.Element {
  const { dtype } = useSelection();
  const loaded = usePart("kernels", { backend: BACKENDS[language], dtype });
  if (!loaded.value) return <Waiting loaded={loaded} what="the kernel" />;
  const { kernels, remark } = loaded.value;
  const kernel = shownKernel(kernels, "", [statement]);
  if (!kernel) return <p className="wbk-facts">There is no kernel.</p>;
  return <InKernel language={language} kernel={kernel} statement={statement} remark={remark} />;
}

function InKernel(props: {
  language: Language;
  kernel: KernelView;
  statement: string;
  remark: string;
}): JSX.Element {
  const { language, kernel: { name }, statement, remark } = props;
  const store = useStore();
  const { dtype } = useSelection();
  const loaded = usePart("kernel", { backend: BACKENDS[language], dtype, name });
  if (!loaded.value) return <Waiting loaded={loaded} what="the kernel" />;
  const show = (): void => store.select({ line: null, level: language, kernel: name, pane: "code" });
  return <Excerpt text={loaded.value} statement={statement} remark={remark} whole={name} show={show} />;
}

/** A statement's first lines in a text; `whole` names the text. */
function Excerpt(props: {
  text: TextView;
  statement: string;
  remark: string;
  whole: string;
  show: () => void;
}): JSX.Element {
  const { text, statement, remark, whole, show } = props;
  const lines = kernelOf(text, statement);
  if (!lines.length) return <p className="wbk-facts">It has no line of its own.</p>;
  return (
    <>
      <pre className="wbk-code wbk-kernel">{lines.slice(0, MOST).join("\n")}</pre>
      {remark && <p className="wbk-facts">{remark}</p>}
      <button className="wbk-button wbk-link" type="button" onClick={show}>
        {lines.length > MOST ? `All ${lines.length} lines, in ${whole}` : `Show in ${whole}`}
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
