// A text with its statements: a click on a line selects its statement, a selected statement's lines are marked.

import type { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { useSelection, useStore } from "../../model/hooks";
import type { TextView } from "../../protocol";
import { begin, editor, mark, reveal, spansOf } from "./editor";

interface Shown {
  readonly text: TextView;
  /** The text it is compared with; null for none. */
  readonly original: string | null;
  readonly title: string;
  /** The line (from 0) that it goes to; null for none. */
  readonly line?: number | null;
  /** Another name makes a new editor. */
  readonly name: string;
}

export function Text({ text, original, title, line = null, name }: Shown): JSX.Element {
  const { statements } = useSelection();
  const store = useStore();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const pressed = useRef(false);
  const fresh = useRef(true);

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

  useEffect(() => {
    if (!view.current) return;
    const first = mark(view.current, text, statements, line);
    if (first === null && fresh.current) begin(view.current, text);
    if (first !== null && !pressed.current) reveal(view.current, first);
    fresh.current = pressed.current = false;
  }, [name, text, original, statements, line]);

  const [first] = statements;
  const missing = first !== undefined && !spansOf(text, statements).length;
  return (
    <>
      {missing && <p className="wbk-hint">{first} has no line here.</p>}
      <div className="wbk-editor" ref={host} />
    </>
  );
}

/** `children` follow the remark that nothing differs. */
export function Same(props: { text: TextView; original: TextView; children?: React.ReactNode }): JSX.Element | null {
  const { text, original, children } = props;
  if (text.text !== original.text) return null;
  return <p className="wbk-hint">The same text in both: the step changed nothing on this level.{children}</p>;
}
