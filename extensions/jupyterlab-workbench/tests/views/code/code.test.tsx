import { afterEach, describe, expect, test } from "vitest";
import { EditorView } from "@codemirror/view";
import type { CodeView, KernelsView, KernelView, TextView } from "../../../src/protocol";
import { Code } from "../../../src/views/code/code";
import { spansOf, statementAt } from "../../../src/views/code/editor";
import { Kernel } from "../../../src/views/details/kernel";
import { lineDiff } from "../../../src/views/code/line-diff";
import { act, byText, type Drawn, drawn, enter, GOLDEN, texts } from "../../drawing";

const codes = GOLDEN.parts.filter((part) => part.part === "code");
const code = (variant: number): CodeView =>
  codes.find((part) => part.variant === GOLDEN.state.variants[variant]?.key)?.value as CodeView;
const levels = (view: CodeView): readonly TextView[] => [view.equations, view.schedule, view.loops, view.source];

let shown: Drawn;
afterEach(() => shown?.takeDown());

describe("lines and statements", () => {
  test("a line's statement is that of the span it is in", () => {
    for (const view of codes.flatMap((part) => levels(part.value as CodeView))) {
      const lines = view.text.split("\n").length;
      for (let line = 0; line < lines; line++) {
        const span = view.spans.find((one) => one.first <= line && line <= one.last);
        expect(statementAt(view, line)).toBe(span?.statement ?? null);
      }
    }
  });

  test("a selected statement's lines are marked, on every level", async () => {
    shown = await drawn(Code);
    const view = code(1);
    for (const [title, text] of [["Equations", view.equations], ["Order", view.schedule], ["Loops", view.loops], ["Python", view.source]] as const) {
      await shown.press(byText(shown.host, "button", title));
      const statement = text?.spans.at(-1)?.statement ?? "";
      await act(async () => shown.store.select({ statements: [statement] }));
      const lines = text?.text.split("\n") ?? [];
      const spans = spansOf(text as TextView, [statement]).map((span) => lines.slice(span.first, span.last + 1));
      const marked = texts(shown.host, ".wbk-own-line"); // of what is near what is looked at
      const most = Math.max(...spans.map((span) => span.length));
      const longest = spans.find((span) => span.length === most) ?? [];
      expect(longest.length).toBeGreaterThan(0);
      expect(longest.filter((line) => !marked.includes(line))).toEqual([]);
      expect(marked.filter((line) => !spans.flat().includes(line))).toEqual([]);
    }
  });

  test("Enter on a line selects its statement, and nothing where it has none", async () => {
    shown = await drawn(Code);
    const { loops } = code(1);
    const editor = EditorView.findFromDOM(shown.host) as EditorView;
    for (const span of loops.spans.slice(0, 4)) {
      await act(async () => {
        editor.dispatch({ selection: { anchor: editor.state.doc.line(span.first + 1).from } });
        editor.contentDOM.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
      });
      expect(shown.store.values().selection.statements).toEqual([span.statement]);
    }
    const free = loops.text.split("\n").findIndex((_, line) => statementAt(loops, line) === null);
    await act(async () => {
      editor.dispatch({ selection: { anchor: editor.state.doc.line(free + 1).from } });
      editor.contentDOM.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
    expect(shown.store.values().selection.statements).toEqual([]);
  });

  test("a line that the memory view points at is shown in the loops", async () => {
    shown = await drawn(Code);
    await shown.press(byText(shown.host, "button", "Equations"));
    await act(async () => shown.store.select({ line: 3, level: "loops" }));
    expect(byText(shown.host, "button", "Loops")?.getAttribute("aria-pressed")).toBe("true");
    expect(texts(shown.host, ".wbk-place-line")).toEqual([code(1).loops.text.split("\n")[3]]);
  });
});

describe("the kernel of a statement", () => {
  test("is its lines of the source, which a click shows", async () => {
    const source = code(1).source;
    const lines = source.text.split("\n");
    const { statement } = source.spans.find((span) => lines[span.first]?.trim().startsWith("# ")) ?? { statement: "" };
    shown = await drawn(() => <Kernel statement={statement} />);
    const kernel = shown.host.querySelector(".wbk-kernel")?.textContent?.split("\n") ?? [];
    expect(kernel.length).toBeGreaterThan(1);
    expect(kernel.filter((line) => !lines.some((one) => one.trim() === line.trim()))).toEqual([]);
    expect(kernel[0]).toMatch(/^# /);
    await shown.press(byText(shown.host, "button", "in the source"));
    expect(shown.store.values().selection).toMatchObject({ pane: "code", level: "python" });
  });

  test("is its lines of the compiled kernel on the backend that compiles", async () => {
    const { kernels } = GOLDEN.parts.find((part) => part.part === "kernels" && part.variant === GOLDEN.state.current)
      ?.value as KernelsView;
    const compiled = kernels.find((one) => one.statements.length === 1) as KernelView;
    const [statement] = compiled.statements;
    shown = await drawn(() => <Kernel statement={statement ?? ""} />);
    await act(async () => shown.store.select({ backend: "native" }));
    const lines = shown.host.querySelector(".wbk-kernel")?.textContent ?? "";
    expect(lines.trimStart().split("\n")[0]).toBe(`/* statement: ${statement} */`);
    await shown.press(byText(shown.host, "button", `in ${compiled.name}`));
    expect(shown.store.values().selection).toMatchObject({ pane: "code", level: "c", kernel: compiled.name });
  });

  test("is told to be none where it has no line", async () => {
    shown = await drawn(() => <Kernel statement="nobody" />);
    expect(shown.host.textContent).toBe("It has no line of its own.");
  });
});

describe("differences", () => {
  test("the step before is compared with, and names are text", async () => {
    shown = await drawn(Code);
    const select = shown.host.querySelector("select");
    expect(byText(shown.host, "option", "folded <b>only</b>")).toBeDefined();
    expect(shown.host.querySelector("option b")).toBeNull();
    await enter(select, "parent");
    expect(shown.host.querySelector(".cm-changedLine, .cm-deletedChunk")).not.toBeNull();
    await shown.press(byText(shown.host, "button", "Equations"));
    expect(shown.host.textContent).toContain("The same text in both");
    const same = shown.host.querySelector(".wbk-hint");
    expect(texts(same as Element, "button")).toContain("Loops");
    await shown.press(byText(same as Element, "button", "Loops"));
    expect(shown.store.values().selection.level).toBe("loops");
  });

  test("changes turn one text into the other, and what is between them is equal", () => {
    const pieces = ["a", "b", "for t:", "    x = 1", "    x = 2", "", "a"];
    let seed = 1;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    const some = (): string =>
      Array.from({ length: random(9) }, () => pieces[random(pieces.length)] ?? "").join("\n");
    for (let round = 0; round < 2000; round++) {
      const [a, b] = [some(), some()];
      let [made, at, other] = ["", 0, 0];
      for (const change of lineDiff(a, b)) {
        expect(a.slice(at, change.fromA)).toBe(b.slice(other, change.fromB));
        made += a.slice(at, change.fromA) + b.slice(change.fromB, change.toB);
        [at, other] = [change.toA, change.toB];
      }
      expect(made + a.slice(at)).toBe(b);
    }
  });
});

test("a backend whose code was not saved is said to be missing", async () => {
  shown = await drawn(Code);
  await act(async () => shown.store.select({ backend: "cuda" }));
  expect(shown.host.textContent).toContain("What was saved does not hold the code");
});
