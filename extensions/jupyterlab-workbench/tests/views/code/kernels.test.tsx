import { EditorView } from "@codemirror/view";
import { afterEach, describe, expect, test } from "vitest";
import type { KernelsView, KernelView, TextView } from "../../../src/protocol";
import { Code } from "../../../src/views/code/code";
import { shownKernel } from "../../../src/views/code/kernels";
import { act, byText, type Drawn, drawn, enter, fire, GOLDEN, texts } from "../../drawing";

const saved = (part: string) => GOLDEN.parts.filter((one) => one.part === part && one.variant === GOLDEN.state.current);
const { kernels } = saved("kernels")[0]?.value as KernelsView;
const textOf = (kernel: KernelView): TextView =>
  saved("kernel").find((one) => one.arguments["name"] === kernel.name)?.value as TextView;
const shownName = (host: ParentNode): string => host.querySelector<HTMLSelectElement>("select.wbk-long")?.value ?? "";
const longest = [...kernels].sort((one, other) => other.lines - one.lines)[0] as KernelView;
const other = kernels.find((kernel) => kernel.name !== longest.name) as KernelView;

let shown: Drawn;
afterEach(() => shown?.takeDown());

async function compiled(): Promise<void> {
  shown = await drawn(Code);
  await shown.press(byText(shown.host, ".wbk-segments button", "C"));
}

/** As if Python were there, which has not answered yet. Returns the number of the request for the kernels. */
async function asked(): Promise<number> {
  shown = await drawn(Code, { ...GOLDEN, parts: GOLDEN.parts.filter(({ part }) => !part.startsWith("kernel")) }, true);
  await shown.press(byText(shown.host, ".wbk-segments button", "C"));
  const [want] = wants("kernels");
  expect(want?.arguments).toEqual({ backend: "native", dtype: "float32" });
  return want?.id ?? 0;
}

const wants = (part: string) => shown.parts.flatMap((one) => (one.type === "want" && one.part === part ? [one] : []));

describe("the kernel that is shown", () => {
  const of = (name: string, lines: number, ...statements: string[]): KernelView => ({
    ...longest, name, lines, statements,
  });
  const [start, region, sum] = [of("start", 9, "g.points"), of("region", 90, "y", "g.points"), of("sum", 20, "g")];
  const all = [start, region, sum];

  test("is the longest at first, and the chosen one", () => {
    expect(shownKernel(all, "", [])).toBe(region);
    expect(shownKernel(all, "sum", [])).toBe(sum);
    expect(shownKernel(all, "of another variant", [])).toBe(region);
    expect(shownKernel([], "", ["y"])).toBeUndefined();
  });

  test("has the selected statement, and stays where it has it", () => {
    expect(shownKernel(all, "", ["g"])).toBe(sum);
    expect(shownKernel(all, "sum", ["y"])).toBe(region);
    expect(shownKernel(all, "", ["g", "y"])).toBe(sum);
    expect(shownKernel(all, "", ["g.points"])).toBe(region);
    expect(shownKernel(all, "start", ["g.points"])).toBe(start);
    expect(shownKernel(all, "sum", ["nowhere"])).toBe(sum);
  });
});

describe("kernels", () => {
  test("are offered beside the other levels, with what a launch does", async () => {
    await compiled();
    const offered = new Set(texts(shown.host, "select.wbk-long option"));
    expect(offered).toEqual(new Set(kernels.map(({ name }) => name)));
    const editor = EditorView.findFromDOM(shown.host) as EditorView;
    expect(editor.state.doc.toString()).toBe(textOf(longest).text);
    const facts = shown.host.querySelector(".wbk-kernel-facts")?.textContent ?? "";
    expect(facts).toContain(`${longest.flops} FLOP a launch`);
    expect(facts).toContain(`${longest.bytes} bytes a launch`);
    expect(facts).toContain(`${longest.tile_bytes} bytes`);
    for (const name of [...longest.loads, ...longest.stores, ...longest.private]) expect(facts).toContain(name);
    expect(shown.host.textContent).toContain(`of ${kernels.length} · ${longest.lines} lines`);
  });

  test("are chosen; a statement that is not the chosen one's is selected no longer", async () => {
    await compiled();
    await act(async () => shown.store.select({ statements: [longest.statements[0] ?? ""] }));
    await enter(shown.host.querySelector("select.wbk-long"), other.name);
    expect(shownName(shown.host)).toBe(other.name);
    expect(shown.store.values().selection).toMatchObject({ kernel: other.name, statements: [] });
  });

  test("follow the selection, whose lines are marked", async () => {
    await compiled();
    for (const kernel of kernels) {
      const [statement] = kernel.statements;
      await act(async () => shown.store.select({ statements: [statement ?? ""] }));
      const now = kernels.find(({ name }) => name === shownName(shown.host)) as KernelView;
      expect(now.statements).toContain(statement);
      expect(shown.host.querySelector(".wbk-own-line")).not.toBeNull();
      expect(texts(shown.host, ".wbk-kernel-facts [aria-pressed=true]")).toEqual([statement]);
    }
  });

  test("select the statement of a line, of a name, and all of theirs", async () => {
    await compiled();
    const text = textOf(longest);
    const editor = EditorView.findFromDOM(shown.host) as EditorView;
    const span = text.spans.at(-1);
    await act(async () => editor.dispatch({ selection: { anchor: editor.state.doc.line((span?.first ?? 0) + 1).from } }));
    await fire(editor.contentDOM, new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    expect(shown.store.values().selection.statements).toEqual([span?.statement]);
    await shown.press(byText(shown.host, ".wbk-kernel-facts li button", longest.statements[0] ?? ""));
    expect(shown.store.values().selection.statements).toEqual([longest.statements[0]]);
    if (longest.statements.length < 2) return;
    await shown.press(byText(shown.host, "button", "Select all"));
    expect(shown.store.values().selection.statements).toEqual(longest.statements);
    expect(shownName(shown.host)).toBe(longest.name);
  });

  test("are compared with those of their names in the step before", async () => {
    await compiled();
    const before = GOLDEN.parts.find((one) => one.part === "kernels" && one.variant === GOLDEN.state.root)?.value as KernelsView;
    const names = before.kernels.map(({ name }) => name);
    await enter(shown.host.querySelector(".wbk-bar select"), "parent");
    for (const { name } of kernels) {
      await enter(shown.host.querySelector("select.wbk-long"), name);
      expect(shown.host.textContent?.includes("no kernel of this name")).toBe(!names.includes(name));
    }
  });
});

describe("kernels that are not there", () => {
  test("are waited for, list and text", async () => {
    const id = await asked();
    expect(shown.host.textContent).toContain("Loading the kernels …");
    await shown.part(id, { kernels, remark: "This is what native would run: no compiler." });
    expect(shown.host.textContent).toContain("no compiler");
    expect(shown.host.textContent).toContain("Loading the kernel …");
    expect(wants("kernel").map((want) => want.arguments)).toEqual([
      { backend: "native", dtype: "float32", name: longest.name },
    ]);
  });

  test("are told of by the reason", async () => {
    const id = await asked();
    const line = { file: "cell", number: 3, text: "  env.step(a)", place: "line 3" };
    const error = { sentence: "env calls step with b as array axis", line, trace: "", cycle: null, arguments: {} };
    await shown.hear({ type: "failed", id, error });
    expect(shown.host.querySelector("[role=alert]")?.textContent).toBe("env calls step with b as array axisenv.step(a) (line 3)");
  });

  test("are said to be none, and not to be saved", async () => {
    const id = await asked();
    await shown.part(id, { kernels: [], remark: "" });
    expect(shown.host.textContent).toContain("there is no kernel");
    await shown.takeDown();
    await compiled();
    await act(async () => shown.store.select({ dtype: "float64" }));
    expect(shown.host.textContent).toContain("What was saved does not hold the kernels");
  });
});
