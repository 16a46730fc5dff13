// A text in CodeMirror: read only, in JupyterLab's colours, lines marked by statement.

import { cpp } from "@codemirror/lang-cpp";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { getChunks, unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { SpanView, TextView } from "../../protocol";
import { lineDiff } from "./line-diff";

export interface Shown {
  readonly text: TextView;
  /** The text it is compared with; null for none. */
  readonly original: string | null;
}

/** A listener to presses: on a statement's line, or one of none. */
export type Press = (statement: string | null) => void;

const marks = StateEffect.define<DecorationSet>();

const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lines, change) {
    for (const effect of change.effects) if (effect.is(marks)) return effect.value;
    return lines.map(change.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const own = Decoration.line({ class: "wbk-own-line" });
const place = Decoration.line({ class: "wbk-own-line wbk-place-line" });

/** Returns spans of some statements, in the order of the text. */
export function spansOf(text: TextView, statements: readonly string[]): readonly SpanView[] {
  const wanted = new Set(statements);
  return text.spans.filter((span) => wanted.has(span.statement));
}

/** Returns the span with most of a statement: not the constants and memory prepared far above. */
export function mainSpan(spans: readonly SpanView[]): SpanView | undefined {
  return [...spans].sort((one, other) => other.last - other.first - (one.last - one.first))[0];
}

/** Returns the statement of a line (from 0). Spans are in order and do not overlap. */
export function statementAt(text: TextView, line: number): string | null {
  let [low, high] = [0, text.spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const span = text.spans[middle];
    if (!span || span.last >= line) high = middle;
    else low = middle + 1;
  }
  const found = text.spans[low];
  return found && found.first <= line ? found.statement : null;
}

export function editor(parent: HTMLElement, shown: Shown, label: string, press: Press): EditorView {
  return new EditorView({ parent, state: stateOf(shown, label, press) });
}

/** Marks the lines of statements, and one line besides. Returns the line to look at, null for none: that one, else
 * where the most is marked. */
export function mark(
  view: EditorView,
  text: TextView,
  statements: readonly string[],
  line: number | null,
): number | null {
  const builder = new RangeSetBuilder<Decoration>();
  const { doc } = view.state;
  const spans = spansOf(text, statements);
  const numbers = spans.flatMap((span) =>
    Array.from({ length: span.last - span.first + 1 }, (_, k) => span.first + k),
  );
  if (line !== null && !numbers.includes(line)) numbers.push(line);
  numbers.sort((one, other) => one - other);
  for (const number of numbers) {
    if (number >= doc.lines) continue;
    const { from } = doc.line(number + 1);
    builder.add(from, from, number === line ? place : own);
  }
  view.dispatch({ effects: marks.of(builder.finish()) });
  return line ?? mainSpan(spans)?.first ?? null;
}

/** Goes to where reading starts: the first change, else the first statement. */
export function begin(view: EditorView, text: TextView): void {
  const change = getChunks(view.state)?.chunks[0];
  const at = change ? change.fromB : view.state.doc.line(text.start + 1).from;
  view.dispatch({ effects: EditorView.scrollIntoView(at, { y: change ? "center" : "start", yMargin: 0 }) });
}

/** Puts a line (from 0) in the middle, unless it can be seen already: where it is drawn, not where lines that have not
 * been measured yet would put it. */
export function reveal(view: EditorView, line: number): void {
  if (line >= view.state.doc.lines) return;
  const { from } = view.state.doc.line(line + 1);
  const box = view.scrollDOM.getBoundingClientRect();
  const drawn = view.coordsAtPos(from);
  if (drawn && drawn.top >= box.top && drawn.bottom <= box.bottom) return;
  view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "center" }) });
}

function stateOf({ text, original }: Shown, label: string, press: Press): EditorState {
  return EditorState.create({
    doc: text.text,
    extensions: [
      EditorState.readOnly.of(true),
      lineNumbers(),
      theme,
      syntaxHighlighting(colours),
      search({ top: true }),
      highlightSelectionMatches(),
      keymap.of([{ key: "Enter", run: (view) => pressed(view, text, press) }, ...searchKeymap]),
      EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
      EditorView.domEventHandlers({
        click: (event, view) => {
          if (!(event.target instanceof Element) || !event.target.closest(".cm-line")) return false;
          return pressed(view, text, press);
        },
      }),
      marked,
      languageOf(text),
      original === null ? [] : compared(original),
    ],
  });
}

function languageOf({ language }: TextView): Extension {
  if (language === "python") return python();
  return language === "c" ? cpp() : [];
}

function compared(original: string): Extension {
  return unifiedMergeView({
    original,
    mergeControls: false,
    highlightChanges: true,
    collapseUnchanged: { margin: 3, minSize: 6 },
    diffConfig: { override: lineDiff },
  });
}

/** Reports the line of the cursor as pressed. A drag that selects text is no press. */
function pressed(view: EditorView, text: TextView, press: Press): boolean {
  const { main } = view.state.selection;
  if (!main.empty) return false;
  press(statementAt(text, view.state.doc.lineAt(main.head).number - 1));
  return false;
}

const theme = EditorView.theme({
  // JupyterLab lets every editor grow with its text, by a rule of one class that comes later.
  "&.cm-editor": { height: "100%", color: "var(--wbk-text)", backgroundColor: "var(--wbk-back)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--wbk-mono)", fontSize: "12px", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--wbk-text)", padding: "4px 0" },
  ".cm-cursor": { borderLeftColor: "var(--wbk-text)" },
  ".cm-line": { cursor: "pointer", padding: "0 8px 0 6px" },
  ".cm-line:hover": { backgroundColor: "color-mix(in srgb, var(--wbk-accent) 7%, transparent)" },
  ".cm-gutters": {
    color: "var(--wbk-faint)",
    backgroundColor: "var(--wbk-back)",
    borderRight: "1px solid var(--wbk-line)",
  },
  "& .wbk-own-line": {
    backgroundColor: "color-mix(in srgb, var(--wbk-accent) 16%, transparent)",
    boxShadow: "inset 3px 0 var(--wbk-accent)",
  },
  "& .wbk-place-line": { outline: "1px solid var(--wbk-accent)", outlineOffset: "-1px" },
  ".cm-panels": { color: "var(--wbk-text)", backgroundColor: "var(--wbk-back2)", borderColor: "var(--wbk-line)" },
  ".cm-textfield, .cm-button": {
    color: "var(--wbk-text)",
    backgroundColor: "var(--wbk-back)",
    backgroundImage: "none",
    border: "1px solid var(--wbk-line)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--wbk-warn) 25%, transparent)" },
  ".cm-changedLine": { backgroundColor: "color-mix(in srgb, var(--wbk-good) 14%, transparent)" },
  ".cm-deletedChunk": { backgroundColor: "color-mix(in srgb, var(--wbk-bad) 12%, transparent)" },
  "&.cm-merge-b .cm-changedText": { background: "color-mix(in srgb, var(--wbk-good) 22%, transparent)" },
  ".cm-deletedChunk .cm-deletedText, &.cm-merge-b .cm-deletedText": {
    background: "color-mix(in srgb, var(--wbk-bad) 14%, transparent)",
  },
  ".cm-collapsedLines": {
    color: "var(--wbk-faint)",
    background: "var(--wbk-back2)",
    borderBlock: "1px solid var(--wbk-line)",
    "&:before, &:after": { content: "none" },
  },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--jp-mirror-editor-keyword-color, var(--wbk-keyword))", fontWeight: "600" },
  { tag: tags.standard(tags.typeName), color: "var(--jp-mirror-editor-keyword-color, var(--wbk-keyword))" },
  { tag: tags.comment, color: "var(--jp-mirror-editor-comment-color, var(--wbk-comment))", fontStyle: "italic" },
  { tag: tags.string, color: "var(--jp-mirror-editor-string-color, var(--wbk-string))" },
  { tag: tags.number, color: "var(--jp-mirror-editor-number-color, var(--wbk-number))" },
]);
