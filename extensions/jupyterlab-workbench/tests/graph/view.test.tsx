import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GraphView } from "../../src/graph/view";
import type { Capsule, Snapshot, StepView } from "../../src/protocol";
import { act, byText, type Drawn, drawn, enter, fire, texts } from "../drawing";
import { altered, CAPSULE, LAYERS, WRITTEN } from "./pictures";

let shown: Drawn;

// A document without layout and without workers: the picture comes in rows, in a window of 500 by 400 pixels.
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.stubGlobal("ResizeObserver", class { observe(): void {} disconnect(): void {} });
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener() {}, removeEventListener() {} }));
  // d3-zoom asks an SVG element for its extent.
  Object.defineProperty(SVGSVGElement.prototype, "width", { configurable: true, value: { baseVal: { value: 500 } } });
  Object.defineProperty(SVGSVGElement.prototype, "height", { configurable: true, value: { baseVal: { value: 400 } } });
});
afterEach(async () => {
  await shown.takeDown();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function view(capsule: Capsule = CAPSULE): Promise<void> {
  shown = await drawn(GraphView, capsule);
  for (let turn = 0; turn < 5; turn++) await act(async () => new Promise((done) => setTimeout(done, 20)));
}

const of = (snapshot: Snapshot): Capsule => ({
  ...CAPSULE,
  parts: [{ part: "snapshot", variant: CAPSULE.state.root, arguments: {}, value: snapshot }],
});
const box = (id: string): SVGGElement | undefined =>
  [...shown.host.querySelectorAll<SVGGElement>("g.node")].find((one) => one.dataset["name"] === `n:${id}`);
const chosen = (): readonly string[] => shown.store.values().selection.statements;
const key = (name: string, more: KeyboardEventInit = {}): Event =>
  new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more });
const focused = (): string => document.activeElement?.getAttribute("aria-label") ?? "";

test("every statement is a box that a click selects, with what it reads lit", async () => {
  await view();
  expect(shown.host.querySelectorAll("g.node").length).toBe(WRITTEN.nodes.length);
  await shown.press(box("g"));
  expect(chosen()).toEqual(["g"]);
  expect(box("g")?.getAttribute("aria-label")).toMatch(/^g\[b, t\], /);
  expect(box("g")?.classList.contains("wbk-selected")).toBe(true);
  const inputs = [...shown.host.querySelectorAll(".wbk-input")].length;
  const sources = new Set(WRITTEN.edges.filter((edge) => edge.target === "g").map((edge) => edge.source));
  sources.delete("g");
  expect(inputs).toBe(sources.size);
  expect(shown.host.querySelectorAll(".edge.wbk-touched").length).toBeGreaterThan(0);
});

test("lit arrows lie beneath the boxes with their chips, and what is focused of them above", async () => {
  await view();
  await shown.press(box("g"));
  const drawn = [...shown.host.querySelectorAll(".edge polygon, g.node, .edge.wbk-touched")];
  const kinds = drawn.map((one) => (one.matches("polygon") ? "line" : one.matches("g.node") ? "box" : "reach"));
  const [lines, boxes] = [kinds.indexOf("box"), kinds.indexOf("reach")];
  expect(kinds.slice(0, lines).every((kind) => kind === "line")).toBe(true);
  expect(kinds.slice(lines, boxes).every((kind) => kind === "box")).toBe(true);
  expect(kinds.slice(boxes)).toEqual(Array(lines).fill("reach"));
});

test("keys are heard after a click on the ground", async () => {
  await view();
  const picture = shown.host.querySelector<SVGSVGElement>(".wbk-svg");
  await shown.press(picture);
  expect(document.activeElement).toBe(picture);
  const at = (): string | null | undefined => shown.host.querySelector(".wbk-viewport")?.getAttribute("transform");
  const fitted = at();
  await fire(document.activeElement, key("+"));
  expect(at()).not.toBe(fitted);
});

test("with shift a click selects one more, and again one less", async () => {
  await view();
  const [first, second] = [...shown.host.querySelectorAll("g.node")];
  const shifted = (): Event => new MouseEvent("click", { bubbles: true, shiftKey: true });
  await shown.press(first);
  await fire(second, shifted());
  expect(chosen().length).toBe(2);
  await fire(second, shifted());
  expect(chosen()).toEqual([WRITTEN.nodes[0]?.id]);
});

test("the keyboard moves, selects, reads arrows and lets go", async () => {
  await view();
  const start = shown.host.querySelector<SVGGElement>("g.node[tabindex='0']");
  start?.focus();
  await fire(start, key("ArrowDown"));
  expect(focused()).not.toBe(start?.getAttribute("aria-label"));
  await fire(document.activeElement, key("Enter"));
  expect(chosen().length).toBe(1);
  await fire(document.activeElement, key("e"));
  const relation = shown.host.querySelector(".wbk-tooltip code")?.textContent ?? "";
  expect(WRITTEN.edges.some((edge) => edge.relation === relation)).toBe(true);
  await fire(document.activeElement, key("Escape"));
  expect(shown.host.querySelector(".wbk-tooltip")).toBeNull();
  expect(chosen().length).toBe(1);
  await fire(document.activeElement, key("Escape"));
  expect(chosen()).toEqual([]);
});

test("what is said stays while it is pointed at, and goes when it is left", async () => {
  await view();
  const start = shown.host.querySelector<SVGGElement>("g.node[tabindex='0']");
  start?.focus();
  await fire(start, key("e"));
  const tooltip = (): Element | null => shown.host.querySelector(".wbk-tooltip");
  await fire(tooltip(), new MouseEvent("pointerover", { bubbles: true }));
  await act(async () => new Promise((done) => setTimeout(done, 400)));
  expect(tooltip()).not.toBeNull();
  await fire(tooltip(), new MouseEvent("pointerout", { bubbles: true, relatedTarget: document.body }));
  await act(async () => new Promise((done) => setTimeout(done, 400)));
  expect(tooltip()).toBeNull();
});

test("the loops of a statement stand on its box, and change with the variant, which is boxed", async () => {
  await view();
  expect(shown.host.querySelectorAll(".wbk-change").length).toBe(0);
  await act(async () => void shown.store.ask({ type: "show", variant: CAPSULE.state.variants[1]?.key ?? "" }));
  for (let turn = 0; turn < 5; turn++) await act(async () => new Promise((done) => setTimeout(done, 20)));
  const changed = WRITTEN.nodes.filter((node) => node.domain.includes("0 <= b < B")).length;
  expect(shown.host.querySelectorAll(".wbk-change").length).toBe(changed);
  expect(texts(shown.host, ".wbk-legend").join("")).toContain(`changed by the last step (${changed})`);
  expect(texts(box("g") ?? document, ".wbk-dim-chip")).toEqual(["b → [b]", "←t"]);
  expect(texts(box("g") ?? document, ".wbk-chip-changed")).toEqual(["b → [b]"]);
});

test("a move under the pointer lights what it touches: what it names, or all in its loops", async () => {
  await view();
  const lit = (): number => shown.host.querySelectorAll(".wbk-pointed").length;
  const step = { ...STEP, statements: ["g"], dims: ["t"] };
  await act(async () => shown.store.select({ pointed: step }));
  expect([lit(), box("g")?.classList.contains("wbk-pointed")]).toEqual([1, true]);
  await act(async () => shown.store.select({ pointed: { ...step, statements: [] } }));
  const inT = WRITTEN.nodes.filter((node) => node.loops.some((loop) => WRITTEN.loops[loop]?.dim === "t"));
  expect(lit()).toBe(inT.length);
  expect(shown.host.querySelectorAll(".wbk-dim").length).toBe(WRITTEN.nodes.length - inT.length);
  await act(async () => shown.store.select({ pointed: null }));
  expect([lit(), shown.host.querySelectorAll(".wbk-dim").length]).toEqual([0, 0]);
});

const STEP: StepView = {
  transform: "Vectorize", text: "", source: "", json: {}, statements: [], arrays: [], dims: [], equation_step: false,
};

test("a search lights what it finds and Enter goes to it", async () => {
  await view();
  const field = shown.host.querySelector('[aria-label="Search statements"]');
  await enter(field, "to_go");
  const found = WRITTEN.nodes.filter((node) => JSON.stringify([node.title, node.equation, node.scope]).includes("to_go"));
  expect(texts(shown.host, ".wbk-count")).toEqual([`${found.length} found`]);
  expect(shown.host.querySelectorAll(".wbk-match").length).toBe(found.length);
  await fire(field, key("Enter"));
  expect(chosen()).toEqual([found[0]?.id]);
  await fire(field, key("Escape"));
  expect(shown.host.querySelectorAll(".wbk-match").length).toBe(0);
});

const BRUSHED = { variant: CAPSULE.state.current, space: "device", range: { from: 3, to: 8.4 } };

test("arrays that live are lit, all else stands back", async () => {
  await view();
  const [node] = WRITTEN.nodes;
  await act(async () => shown.store.select({ brushed: { ...BRUSHED, arrays: [node?.array ?? ""] } }));
  const written = WRITTEN.nodes.filter((one) => one.array === node?.array).length;
  expect(shown.host.querySelectorAll(".wbk-live").length).toBe(written);
  expect(shown.host.querySelectorAll(".wbk-dim").length).toBe(WRITTEN.nodes.length - written);
  const last = WRITTEN.nodes.at(-1);
  await act(async () => shown.store.select({ statements: [last?.id ?? ""] }));
  expect(shown.host.querySelectorAll(".wbk-live.wbk-dim").length).toBe(0);
  await act(async () => shown.store.select({ statements: [] }));
  expect(texts(shown.host, ".wbk-brush span")).toEqual(["", "live in device memory at lines 4 to 9"]);
  await shown.press(shown.host.querySelector(".wbk-brush button"));
  expect(shown.host.querySelectorAll(".wbk-live, .wbk-dim, .wbk-brush").length).toBe(0);
});

test("while the program runs, what executes is marked with its share of the time", async () => {
  shown = await drawn(GraphView, CAPSULE, true);
  for (let turn = 0; turn < 5; turn++) await act(async () => new Promise((done) => setTimeout(done, 20)));
  void shown.store.ask({ type: "cancel" }).catch(() => undefined);
  const [one, other] = WRITTEN.nodes.map((node) => node.id) as [string, string];
  const running = {
    type: "running", workbench: "golden", variant: CAPSULE.state.current, shares: { [one]: 0.75, [other]: 0.0004 },
    now: [one], loops: [], seconds: 1, over: false,
  } as const;
  await shown.answer(() => running);
  expect([...shown.host.querySelectorAll<SVGGElement>(".wbk-now")].map((now) => now.dataset["name"])).toEqual([`n:${one}`]);
  expect(texts(shown.host, ".wbk-share")).toEqual(["75 %"]);
  await shown.answer(() => ({ ...running, over: true }));
  expect(shown.host.querySelectorAll(".wbk-now, .wbk-share").length).toBe(0);
});

test("without a prediction the overlay says so", async () => {
  await view();
  await enter(shown.host.querySelector("select"), "seconds");
  expect(texts(shown.host, ".wbk-legend").join("")).toContain("What was saved does not hold the prediction.");
});

test("where no layout engine runs, a picture is drawn and the reason said", async () => {
  await view(of(LAYERS));
  expect(texts(shown.host, ".wbk-status").join("")).toContain("could not be laid out");
  expect(shown.host.querySelectorAll("g.node.closed").length).toBe(shown.host.querySelectorAll("g.node").length);
});

test("names with markup stay text", async () => {
  const evil = '<img src=x onerror="window.pwned=1">';
  const [node] = WRITTEN.nodes;
  const box = { first: evil, second: evil, short: evil, dot: node?.box.dot ?? "" };
  await view(of(altered(WRITTEN, node?.id ?? "", { title: evil, summary: evil, box })));
  expect(shown.host.querySelector("img")).toBeNull();
  expect(byText(shown.host, "g.node text", "<img")).toBeDefined();
});

test("what was seen of a variant's run stands on its graph, whichever was shown meanwhile", async () => {
  shown = await drawn(GraphView, CAPSULE, true);
  for (let turn = 0; turn < 5; turn++) await act(async () => new Promise((done) => setTimeout(done, 20)));
  void shown.store.ask({ type: "cancel" }).catch(() => undefined);
  const [one] = WRITTEN.nodes.map((node) => node.id) as [string];
  const other = CAPSULE.state.variants.find((variant) => variant.key !== CAPSULE.state.current)?.key ?? "";
  const running = {
    type: "running", workbench: "golden", variant: other, shares: { [one]: 1 }, now: [one], loops: [], seconds: 1, over: false,
  } as const;
  await shown.answer(() => running);
  expect(shown.host.querySelectorAll(".wbk-now, .wbk-share").length).toBe(0);
});

test("a tool is called by its label", async () => {
  await view();
  const words = [...shown.host.querySelectorAll<HTMLElement>(".wbk-tools button")].filter((one) => /\w/.test(one.textContent ?? ""));
  expect(words.length).toBeGreaterThan(0);
  for (const one of words) expect(one.getAttribute("aria-label") ?? one.textContent).toContain(one.textContent);
});

test("buttons go from hit to hit, which are counted, and round", async () => {
  await view();
  await enter(shown.host.querySelector('[aria-label="Search statements"]'), "[b");
  const [count] = texts(shown.host, ".wbk-count").map((text) => parseInt(text, 10)) as [number];
  expect(count).toBeGreaterThan(2);
  const [before, next] = ["The hit before", "The next hit"].map((name) => shown.host.querySelector(`[aria-label^="${name}"]`));
  const visited: string[] = [];
  for (let hit = 1; hit <= count; hit++) {
    await shown.press(next);
    expect(texts(shown.host, ".wbk-count")).toEqual([`${hit} of ${count} found`]);
    visited.push(chosen()[0] ?? "");
  }
  expect(new Set(visited).size).toBe(count);
  await shown.press(next);
  expect(chosen()).toEqual([visited[0]]);
  await shown.press(before);
  expect(chosen()).toEqual([visited.at(-1)]);
});

const search = (): HTMLInputElement | null => shown.host.querySelector(".wbk-search");

test("a search is left with Escape: the text first, then the field for the box that was gone to", async () => {
  await view();
  await act(async () => search()?.focus());
  await enter(search(), "g[");
  await fire(search(), key("Enter"));
  const [hit = ""] = chosen();
  expect(hit).toMatch(/^g/);
  await fire(search(), key("Escape"));
  expect(search()?.value).toBe("");
  expect(document.activeElement).toBe(search());
  await fire(search(), key("Escape"));
  expect(document.activeElement).toBe(box(hit));
});

test("without a hit the search is left for the graph", async () => {
  await view();
  await act(async () => search()?.focus());
  await fire(search(), key("Escape"));
  expect(document.activeElement?.closest(".wbk-svg")).toBeTruthy();
});

test("what is drawn on a box finds it, however it is spaced", async () => {
  const [first] = WRITTEN.nodes;
  const { id, box: face } = WRITTEN.nodes.find((node) => node.id === "g") ?? (first as (typeof WRITTEN.nodes)[number]);
  await view(of(altered(WRITTEN, id, { box: { ...face, short: "state[t + 1]" } })));
  for (const text of ["state[t", "state[t+1]", " state [ t + 1"]) {
    await enter(search(), text);
    await fire(search(), key("Enter"));
    expect(chosen(), text).toEqual([id]);
    shown.store.select({ statements: [] });
  }
});

test("after an arrow is let go the keys go on from a box", async () => {
  await view();
  await shown.press(box("g"));
  const arrow = shown.host.querySelector<SVGGElement>(".edge[tabindex='0']");
  await act(async () => arrow?.focus());
  await fire(arrow, key("Escape"));
  expect(document.activeElement).toBe(box("g"));
});

test("what is said of an arrow goes when the view changes", async () => {
  await view();
  const start = shown.host.querySelector<SVGGElement>("g.node[tabindex='0']");
  await act(async () => start?.focus());
  await fire(start, key("e"));
  expect(shown.host.querySelector(".wbk-tooltip")).not.toBeNull();
  await fire(start, key("+"));
  expect(shown.host.querySelector(".wbk-tooltip")).toBeNull();
});
