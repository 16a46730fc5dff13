import { afterEach, describe, expect, test, vi } from "vitest";
import golden from "../../../../../tests/golden/session/steps.json";
import { merged } from "../../../src/model/parts";
import type { Capsule, CostView, EffectView, MovesView, MoveView, PreviewView, RefusalView, Snapshot } from "../../../src/protocol";
import { asBefore, filtered, NO_FILTER, type Shown, sorted, weight } from "../../../src/views/moves/move-order";
import { Moves, parted } from "../../../src/views/moves/moves";
import { around } from "../../../src/graph/around";
import { changes as differences } from "../../../src/graph/diff";
import { grouped } from "../../../src/views/step/preview-graph";
import { changes, changeText, worth } from "../../../src/views/moves/price";
import { openStep, stepKey } from "../../../src/views/step/steps";
import { act, byText, type Drawn, drawn, enter, fire, texts } from "../../drawing";

const CAPSULE = golden as unknown as Capsule;
const parts = <T,>(part: string): readonly T[] =>
  CAPSULE.parts.filter((one) => one.part === part).map((one) => one.value as T);
const [whole, own] = parts<MovesView>("moves") as [MovesView, MovesView];
const [snapshot] = parts<Snapshot>("snapshot") as [Snapshot];
const previewOf = (text: string): PreviewView =>
  parts<PreviewView>("preview").find((one) => one.step.text === text) as PreviewView;

let shown: Drawn;
afterEach(() => shown?.takeDown());

const rows = (): readonly string[] => texts(shown.host, ".wbk-move");
/** Tells whether one element comes before another. */
const inOrder = (one: Element | null, other: Element | null): boolean =>
  Boolean(one && other && one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
const [cost] = parts<CostView>("cost") as [CostView];
const priceOf = (move: MoveView): EffectView | null =>
  (CAPSULE.parts.find(
    (one) => one.part === "price" && JSON.stringify(one.arguments["step"]) === JSON.stringify(move.step.json),
  )?.value as EffectView | undefined) ?? null;
const listed = (moves: readonly MoveView[]): readonly Shown[] =>
  moves.map((move) => ({ move, after: priceOf(move), problem: "", weight: weight(move.step, cost) }));

describe("the list", () => {
  test("every move is there, refused ones last with their reason and a way to the picture", async () => {
    shown = await drawn(Moves, CAPSULE);
    expect(rows()).toHaveLength(whole.moves.length);
    const refused = whole.moves.filter((move) => move.refused !== null);
    const last = [...shown.host.querySelectorAll(".wbk-move")].slice(-refused.length);
    expect(last.every((row) => row.classList.contains("wbk-refused-move"))).toBe(true);
    const reasons = new Set(refused.map((move) => move.refused?.replace(`${move.step.text}: `, "")));
    expect(new Set(texts(shown.host, ".wbk-reason"))).toEqual(reasons);
  });

  test("the move under the focus says what it is, and is pointed at in the graph", async () => {
    shown = await drawn(Moves, CAPSULE);
    const row = shown.host.querySelector<HTMLButtonElement>(".wbk-move");
    await act(async () => row?.focus());
    const { pointed } = shown.store.values().selection;
    expect(pointed?.source).toBe(row?.closest("li")?.dataset["source"]);
    const summary = whole.transforms.find((one) => one.name === pointed?.transform)?.summary ?? "";
    expect(texts(shown.host, ".wbk-move-said p")).toEqual([`${pointed?.transform}: ${summary.replaceAll("`", "")}`]);
    await act(async () => row?.blur());
    expect(shown.store.values().selection.pointed).toBeNull();
    expect(texts(shown.host, ".wbk-move-said p")).toEqual([]);
  });

  test("what is predicted to help most stands first", () => {
    const seconds = sorted(listed(whole.moves), cost, "time").flatMap(({ after }) => after?.seconds ?? []);
    expect(seconds[0]).toBe(Math.min(...seconds));
    const peaks = sorted(listed(whole.moves), cost, "peak").flatMap(({ after }) => after?.peak_bytes["device"] ?? []);
    expect(peaks[0]).toBe(Math.min(...peaks));
  });

  test("what is not predicted stands between what helps and what harms, by how much it is about", () => {
    const shown = (name: string, seconds: number | null, heavy: number): Shown => ({
      move: { ...(whole.moves[0] as MoveView), refused: null, notes: [name] },
      after: seconds === null ? null : { ...cost, seconds },
      problem: "",
      weight: heavy,
    });
    const { seconds } = cost;
    const all = [
      shown("harms", 2 * seconds, 9), shown("unknown, small", null, 1), shown("unknown, all", null, Infinity),
      shown("same", seconds, 2), shown("helps", seconds / 2, 0),
    ];
    expect(sorted(all, cost, "time").map(({ move }) => move.notes[0])).toEqual([
      "helps", "unknown, all", "same", "unknown, small", "harms",
    ]);
  });

  test("what is about the whole, or about most of the time and the memory, is the heaviest", () => {
    const heavy = cost.shares.reduce((one, other) => (one.seconds > other.seconds ? one : other)).statement;
    const light = cost.shares.reduce((one, other) => (one.seconds < other.seconds ? one : other)).statement;
    const [move] = whole.moves as [MoveView];
    const about = (...statements: string[]): number => weight({ ...move.step, statements, arrays: [] }, cost);
    expect(about()).toBe(Infinity);
    expect(about(heavy)).toBeGreaterThan(about(light));
    const all = cost.shares.map((one) => one.statement);
    expect(about(...all)).toBeCloseTo(1 - cost.besides.seconds / cost.seconds, 3);
  });

  test("rows keep their order under the pointer; new ones come behind their like", () => {
    const all = listed(whole.moves);
    const [one, two, three] = all.filter(({ move }) => move.refused === null) as [Shown, Shown, Shown];
    const refused = all.find(({ move }) => move.refused !== null) as Shown;
    const order = [two, one, refused].map(({ move }) => move.step.source);
    expect(asBefore(order, [one, two, three, refused])).toEqual([two, one, three, refused]);
  });

  test("moves about the selection stand apart from the rest, none twice", async () => {
    shown = await drawn(Moves, CAPSULE);
    await act(async () => shown.store.select({ statements: ["state[t+1]"] }));
    const [first, rest] = [...shown.host.querySelectorAll(".wbk-move-section")];
    const [firstRows, restRows] = [texts(first as Element, ".wbk-move"), texts(rest as Element, ".wbk-move")];
    for (const move of own.moves) {
      expect(firstRows.some((row) => row.startsWith(move.step.transform))).toBe(true);
    }
    expect(new Set([...firstRows, ...restRows]).size).toBe(firstRows.length + restRows.length);
    expect(first?.getAttribute("aria-label")).toBe("For state[t+1]");
  });

  test("a move that both streams tell of is there once, among the first", () => {
    const { first, rest } = parted(whole, { ...whole, moves: whole.moves.slice(0, 2) }, [], new Set());
    expect(first).toEqual(whole.moves.slice(0, 2));
    expect(rest).toEqual(whole.moves.slice(2));
  });

  test("filters by text, by kind, and without what is refused", async () => {
    shown = await drawn(Moves, CAPSULE);
    await enter(shown.host.querySelector("input[type=search]"), "reward contract");
    expect(rows().length).toBeGreaterThan(0);
    expect(rows().every((row) => row.startsWith("Contract") && row.includes("reward"))).toBe(true);
    await enter(shown.host.querySelector("input[type=search]"), "");
    await enter(shown.host.querySelector("select"), "Vectorize");
    expect(rows().every((row) => row.startsWith("Vectorize"))).toBe(true);
    await enter(shown.host.querySelector("select"), "");
    await shown.press(shown.host.querySelector("input[type=checkbox]"));
    expect(shown.host.querySelector(".wbk-refused-move")).toBeNull();
    await enter(shown.host.querySelector("input[type=search]"), "nothing like it");
    expect(texts(shown.host, ".wbk-hint")).toEqual(["None of these fit the filter."]);
  });

  test("the reason is searched too", () => {
    const refused = whole.moves.find((move) => move.refused !== null);
    const word = refused?.refused?.split(" ").at(-1) ?? "";
    expect(filtered(listed(whole.moves), { ...NO_FILTER, text: word }).map(({ move }) => move)).toContain(refused);
  });

  test("a saved workbench without moves says so", async () => {
    shown = await drawn(Moves, { ...CAPSULE, parts: CAPSULE.parts.filter((one) => one.part === "snapshot") });
    expect(shown.host.textContent).toContain("What was saved does not hold the moves");
  });

  test("batches that come later add to those before", () => {
    const [one, ...others] = whole.moves;
    const first: MovesView = { ...whole, moves: one ? [one] : [] };
    expect(merged("moves", merged("moves", null, first), { transforms: [], names: {}, moves: others })).toEqual(whole);
  });

  test("kinds of steps come with their moves", () => {
    const [one, ...others] = whole.transforms;
    const [first, second] = [one ? [one] : [], others].map((transforms) => ({ ...whole, transforms, moves: [] }));
    expect(merged("moves", merged("moves", null, first), second)).toEqual({ ...whole, moves: [] });
  });

  test("arrow keys go from the filter into the list and through it", async () => {
    shown = await drawn(Moves, CAPSULE);
    const search = shown.host.querySelector<HTMLInputElement>("input[type=search]");
    search?.focus();
    const down = (): Event => new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true });
    await fire(search, down());
    expect(document.activeElement?.textContent).toBe(rows()[0]);
    await fire(document.activeElement, down());
    expect(document.activeElement?.textContent).toBe(rows()[1]);
  });
});

describe("prices", () => {
  const asked = (): readonly { type: string; id: number; step?: unknown; backend?: unknown }[] =>
    shown.parts.flatMap((one) =>
      one.type === "want" && one.part === "price"
        ? [{ type: "want", id: one.id, step: one.arguments["step"], backend: one.arguments["backend"] }]
        : one.type === "forget" ? [{ type: "forget", id: one.id }] : [],
    );
  const unpriced = { ...CAPSULE, parts: CAPSULE.parts.filter((one) => one.part !== "price") };
  const legal = whole.moves.filter((move) => move.refused === null);

  test("are asked for four at a time, of the rows in view from the top, and shown as they come", async () => {
    shown = await drawn(Moves, unpriced, true);
    const top = sorted(listed(legal).map((one) => ({ ...one, after: null })), cost, "time").slice(0, 4);
    expect(asked().map((one) => one.step)).toEqual(top.map(({ move }) => move.step.json));
    await shown.part(asked()[0]?.id ?? 0, { ...cost, seconds: cost.seconds / 2 });
    expect(texts(shown.host, ".wbk-price")).toEqual(["time ÷ 2", "peak same"]);
    expect(asked()).toHaveLength(5);
  });

  test("of a run that nobody wants any more are called back", async () => {
    shown = await drawn(Moves, unpriced, true);
    const before = asked();
    const costs = CAPSULE.parts.filter((part) => part.part === "cost");
    expect(costs).toHaveLength(1);
    await act(async () => shown.store.select({ backend: "native" }));
    expect(asked().slice(4)).toEqual(before.map(({ id }) => ({ type: "forget", id })));
  });

  test("that cannot be had say why, and the next ones are asked for", async () => {
    shown = await drawn(Moves, unpriced, true);
    const error = { sentence: "nobody knows", line: null, trace: "", cycle: null, arguments: {} };
    await shown.hear({ type: "failed", id: asked()[0]?.id ?? 0, error });
    expect(shown.host.querySelector(".wbk-prices[title='nobody knows']")?.textContent).toBe("no estimate");
    expect(asked()).toHaveLength(5);
  });

  const moved = (by: number): MouseEvent =>
    Object.defineProperties(new MouseEvent("pointermove", { bubbles: true }), { movementX: { value: by }, movementY: { value: 0 } });

  test("sort a list that came to lie under a pointer that rests", async () => {
    shown = await drawn(Moves, unpriced, true);
    const before = rows().map((row) => row.replace("…", ""));
    const list = shown.host.querySelector(".wbk-move");
    await fire(list, new MouseEvent("pointerover", { bubbles: true }));
    await fire(list, moved(0));
    await shown.part(asked()[0]?.id ?? 0, { ...cost, seconds: cost.seconds * 2 });
    expect(rows()[0]).toBe(`${before[1]}…`);
    expect(byText(shown.host, "button", "Sort now")).toBeUndefined();
  });

  /** The time in which a pointer that moved no more has stopped. */
  const stopped = (): Promise<void> => act(async () => new Promise((done) => setTimeout(done, 500)));

  test("leave rows where they are while the pointer is on its way to the list", async () => {
    shown = await drawn(Moves, unpriced, true);
    const before = rows().map((row) => row.replace("…", ""));
    await fire(document.body, moved(1));
    await shown.part(asked()[0]?.id ?? 0, { ...cost, seconds: cost.seconds * 2 });
    expect(rows()[0]?.startsWith(before[0] ?? "?")).toBe(true);
    await stopped();
    expect(rows()[0]).toBe(`${before[1]}…`);
  });

  test("leave rows where they are while the pointer is in the list", async () => {
    shown = await drawn(Moves, unpriced, true);
    const before = rows().map((row) => row.replace("…", ""));
    const list = shown.host.querySelector(".wbk-move");
    await fire(list, new MouseEvent("pointerover", { bubbles: true }));
    await fire(list, moved(1));
    await shown.part(asked()[0]?.id ?? 0, { ...cost, seconds: cost.seconds * 2 });
    expect(rows()[0]?.startsWith(before[0] ?? "?")).toBe(true);
    expect(byText(shown.host, "button", "Sort now")).toBeDefined();
    await fire(list, new MouseEvent("pointerout", { bubbles: true, relatedTarget: document.body }));
    await stopped();
    expect(rows()[0]).toBe(`${before[1]}…`);
    expect(rows()[legal.length - 1]?.startsWith(before[0] ?? "?")).toBe(true);
    expect(byText(shown.host, "button", "Sort now")).toBeUndefined();
  });
});

describe("price tags", () => {
  const before = { seconds: 2, peak_bytes: { device: 1000, host: 0 }, one_memory: true };
  const after = (seconds: number, device: number, host = 0): EffectView => ({ seconds, peak_bytes: { device, host } });

  test("say how much less or more", () => {
    const said = (to: EffectView): readonly string[] => changes(before, to).map(changeText);
    expect(said(after(1.9, 1200))).toEqual(["÷ 1.05", "× 1.2"]);
    expect(said(after(0.05, 1000))).toEqual(["÷ 40", "same"]);
    expect(said(after(6.2, 500, 300))).toEqual(["× 3.1", "÷ 2", "+300 B"]);
    expect(said(after(2.001, 0))).toEqual(["same", "none"]);
  });

  test("what moves to the host saves nothing where that is the same memory", () => {
    expect(worth({ ...before, one_memory: false }, after(2, 500, 500), "peak")).toBeLessThan(0);
    expect(worth({ ...before, one_memory: true }, after(2, 500, 500), "peak")).toBe(0);
    expect(worth({ ...before, one_memory: true }, after(2, 500, 700), "peak")).toBeGreaterThan(0);
  });

  test("time decides, memory where the time is the same; unknown is worth nothing", () => {
    expect(worth(before, after(1, 5000), "time")).toBeLessThan(worth(before, after(1.5, 10), "time"));
    expect(worth(before, after(2, 900), "time")).toBeLessThan(worth(before, after(2, 1000), "time"));
    expect(worth(before, after(9, 10), "peak")).toBeLessThan(worth(before, after(1, 900), "peak"));
    expect(worth(before, null, "time")).toBe(0);
  });
});

describe("an open step", () => {
  /** Pictures are laid out and drawn in several turns. */
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await act(async () => new Promise((done) => setTimeout(done, 25)));
  };
  const open = async (text: string, live = false): Promise<void> => {
    shown = await drawn(Moves, CAPSULE, live);
    await act(async () => shown.store.select({ move: JSON.stringify(previewOf(text).step.json) }));
  };

  test("shows what it costs before and after, and how the order changes", async () => {
    await open("Vectorize('b')");
    expect(shown.host.querySelector("h3")?.textContent).toBe("Vectorize('b')");
    const rows = texts(shown.host, ".wbk-costs th");
    expect([rows[0], rows.at(-1)]).toEqual(["time", "peak"]);
    expect(rows.slice(1, -1)).toContain("kernel launches"); // what the time comes of, as far as it changes
    expect(texts(shown.host, ".wbk-code-after .wbk-levels button")).toEqual(["Order", "Loops"]);
    expect(texts(shown.host, ".cm-changedLine").some((line) => line.includes("axis b:"))).toBe(true);
  });

  test("says why it is legal, with the drawing, before what it costs", async () => {
    await open("Vectorize('b')");
    const [drawing, costs] = [shown.host.querySelector(".wbk-why svg"), shown.host.querySelector(".wbk-costs")];
    expect(inOrder(shown.host.querySelector(".wbk-sentence"), costs)).toBe(true);
    expect(inOrder(drawing, costs)).toBe(true);
  });

  test("that is refused draws the two instances before it says what they are", async () => {
    const refused = CAPSULE.parts.map((one) => one.value as PreviewView).find((one) => one?.refusal?.witness);
    shown = await drawn(Moves, CAPSULE);
    await act(async () => openStep(shown.store, refused?.step.json ?? null));
    const drawing = shown.host.querySelector(".wbk-instances");
    expect(drawing).not.toBeNull();
    expect(inOrder(drawing, shown.host.querySelector(".wbk-story"))).toBe(true);
    expect(inOrder(shown.host.querySelector(".wbk-story"), shown.host.querySelector(".wbk-sentence"))).toBe(true);
  });

  test("says what was selected since it was opened, and leads to its moves", async () => {
    const { step } = previewOf("Incrementalize('to_go', 't')");
    shown = await drawn(Moves, CAPSULE);
    await act(async () => shown.store.select({ statements: ["reward"], move: stepKey(step.json) }));
    expect(shown.host.querySelector(".wbk-meanwhile")).toBeNull();
    await act(async () => shown.store.select({ statements: ["to_go"] })); // what the step is about
    expect(shown.host.querySelector(".wbk-meanwhile")).toBeNull();
    await act(async () => shown.store.select({ statements: ["state"] }));
    expect(shown.host.querySelector(".wbk-meanwhile")?.textContent).toContain("Selected meanwhile: state");
    await shown.press(byText(shown.host, "button", "Show its moves"));
    expect(shown.store.values().selection).toMatchObject({ move: null, statements: ["state"] });
    expect(texts(shown.host, ".wbk-move-section h4")[0]).toBe("For state");
  });

  test("shows the graph with what differs, and lists it", async () => {
    const height = vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(300);
    const preview = previewOf("Incrementalize('to_go', 't')");
    const after = preview.snapshot as Snapshot;
    const found = grouped(differences(snapshot, after), after);
    expect(found.map((group) => group.word)).toEqual(["new", "changed"]);
    await open("Incrementalize('to_go', 't')");
    expect(texts(shown.host, ".wbk-changed-word")).toEqual(found.map(({ word, nodes }) => `${nodes.length} ${word}`));
    await settled();
    const drawn = differences(snapshot, after);
    const near = around(snapshot, after, drawn, false);
    expect(near.nodes.length).toBeLessThan(after.nodes.length);
    expect(shown.host.querySelectorAll(".wbk-small-graph .node")).toHaveLength(near.nodes.length);
    expect(shown.host.querySelectorAll(".wbk-small-graph .wbk-change")).toHaveLength(drawn.changed.size);
    await shown.press(byText(shown.host, ".wbk-graph-after button", "All"));
    await settled();
    expect(shown.host.querySelectorAll(".wbk-small-graph .node")).toHaveLength(after.nodes.length);
    height.mockRestore();
    await shown.press(byText(shown.host, ".wbk-changed button", "to_go"));
    expect(shown.store.values().selection.statements).toEqual(["to_go"]);
  });

  test("what is gone stands in the graph where it stood, with its arrows and loops", () => {
    const [first, gone, last] = snapshot.nodes as readonly [Snapshot["nodes"][0], Snapshot["nodes"][0], Snapshot["nodes"][0]];
    const without: Snapshot = {
      ...snapshot,
      nodes: snapshot.nodes.filter((node) => node !== gone),
      edges: snapshot.edges.filter((edge) => edge.source !== gone.id && edge.target !== gone.id),
      loops: [],
    };
    const found = { changed: new Map(), gone: [gone], before: new Map() };
    const all = around(snapshot, without, found, true);
    expect(all.nodes.map((node) => node.id)).toEqual(snapshot.nodes.map((node) => node.id));
    expect(all.edges).toHaveLength(snapshot.edges.length);
    const ghost = all.nodes.find((node) => node.id === gone.id);
    expect(ghost?.loops.map((place) => all.loops[place])).toEqual(gone.loops.map((place) => snapshot.loops[place]));
    const near = around(snapshot, without, found, false).nodes.map((node) => node.id);
    const beside = snapshot.edges.flatMap((edge) =>
      edge.source === gone.id || edge.target === gone.id ? [edge.source, edge.target] : [],
    );
    expect(new Set(near)).toEqual(new Set([gone.id, ...beside]));
    const headless = around(snapshot, { ...without, nodes: [last] }, { ...found, gone: [first, gone] }, true);
    expect(headless.nodes.map((node) => node.id)).toEqual([first.id, gone.id, last.id]);
  });

  test("of a step that only folds storage it is said whose", async () => {
    await open("Contract('reward', 'b')");
    expect(texts(shown.host, ".wbk-changed-word")).toEqual(["1 in other storage"]);
    expect(texts(shown.host, ".wbk-changed-in button")).toEqual(["reward[b, t]"]);
  });

  test("is taken by Apply, and the list is there again", async () => {
    await open("Vectorize('b')", true);
    await shown.press(byText(shown.host, "button", "Apply"));
    const { step } = previewOf("Vectorize('b')");
    expect(shown.sent).toMatchObject([{ type: "apply", variant: CAPSULE.state.current, step: step.json }]);
    expect(byText(shown.host, "button", "Applying …")).toHaveProperty("disabled", true);
    await shown.answer((id) => ({ type: "done", id, variant: "other" }));
    expect(shown.store.values().selection.move).toBeNull();
  });

  test("stays open with the reason where Apply fails", async () => {
    await open("Vectorize('b')", true);
    await shown.press(byText(shown.host, "button", "Apply"));
    const error = { sentence: "there is no such variant <b>any</b> more", line: null, trace: "", cycle: null, arguments: {} };
    await shown.answer((id) => ({ type: "failed", id, error }));
    expect(texts(shown.host, "[role=alert]")).toEqual([error.sentence]);
    expect(byText(shown.host, "button", "Apply")).toHaveProperty("disabled", false);
  });

  test("that makes a refused one possible leads back to it", async () => {
    const [first, refused] = [previewOf("Vectorize('b')"), previewOf("Recompute('state')")];
    const refusal = { ...(refused.refusal as RefusalView), repairs: [first.step] };
    const parts = CAPSULE.parts.map((one) => (one.value === refused ? { ...one, value: { ...refused, refusal } } : one));
    shown = await drawn(Moves, { ...CAPSULE, parts }, true);
    await act(async () => openStep(shown.store, refused.step.json));
    await shown.press(byText(shown.host, ".wbk-step-button", "First: Vectorize('b')"));
    expect(texts(shown.host, "h3")).toEqual(["Vectorize('b')"]);
    expect(shown.host.textContent).toContain("Then comes Recompute('state')");
    await shown.press(byText(shown.host, "button", "← Refused step"));
    expect(texts(shown.host, "h3")).toEqual(["Recompute('state')"]);
    await shown.press(byText(shown.host, ".wbk-step-button", "First: Vectorize('b')"));
    await shown.press(byText(shown.host, "button", "Apply"));
    await shown.answer((id) => ({ type: "done", id, variant: "other" }));
    expect(shown.store.values().selection).toMatchObject({ move: stepKey(refused.step.json), next: null });
  });

  test("cannot be taken in a saved workbench", async () => {
    await open("Vectorize('b')");
    expect(byText(shown.host, "button", "Apply")).toHaveProperty("disabled", true);
  });

  test("is left with Escape", async () => {
    await open("Vectorize('b')");
    await fire(shown.host.querySelector(".wbk-open-step"), new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    expect(shown.store.values().selection.move).toBeNull();
    expect(rows()).toHaveLength(whole.moves.length);
  });
});
