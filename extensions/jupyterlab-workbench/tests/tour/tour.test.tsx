import { afterEach, beforeEach, describe, expect, test } from "vitest";
import golden from "../../../../tests/golden/session/steps.json";
import { startTour } from "../../src/tour/start";
import { Tour } from "../../src/tour/tour";
import { inSight } from "../../src/tour/outline";
import { telling } from "../../src/tour/subjects";
import type { Capsule, MovesView, Snapshot, State } from "../../src/protocol";
import { act, byText, type Drawn, drawn, texts } from "../drawing";

const CAPSULE = golden as unknown as Capsule;
const [SNAPSHOT] = CAPSULE.parts.flatMap(({ part, value }) => (part === "snapshot" ? [value as Snapshot] : []));

let shown: Drawn;
let outside: HTMLButtonElement;
beforeEach(() => {
  outside = document.createElement("button");
  document.body.append(outside);
  outside.focus();
});
afterEach(async () => {
  await shown?.takeDown();
  outside.remove();
});

async function begin(capsule: Capsule = CAPSULE, live = false): Promise<void> {
  shown = await drawn(Tour, capsule, live);
  shown.host.classList.add("wbk-root");
  await act(async () => startTour(shown.store));
  await settled();
}

/** Once it is known what the capsule does not hold. */
const settled = (): Promise<void> => act(async () => void (await new Promise((done) => setTimeout(done, 150))));


const card = (): HTMLElement => shown.host.querySelector("[role=dialog]") as HTMLElement;
const title = (): string => texts(shown.host, "h3")[0] ?? "";
const press = async (key: string, on: EventTarget = card()): Promise<void> =>
  act(async () => void on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })));

/** The capsule with other moves. */
const withMoves = (change: (view: MovesView) => MovesView): Capsule => ({
  ...CAPSULE,
  parts: CAPSULE.parts.map((one) => (one.part === "moves" ? { ...one, value: change(one.value as MovesView) } : one)),
});

describe("the stops", () => {
  test("are those that the program has a subject for, and the others are told with why", async () => {
    await begin();
    expect(texts(shown.host, ".wbk-tour-count")).toEqual(["1 of 7"]);
    expect(texts(shown.host, ".wbk-tour-left summary")).toEqual(["3 left out"]);
    expect(texts(shown.host, ".wbk-tour-left li")).toEqual([
      "Watch it run: what is loaded does not hold it",
      "Apply, undo, branch: steps are taken where a Jupyter kernel runs",
      "Measure, and compare: nothing of it was measured, and no Jupyter kernel is there to do it",
    ]);
  });

  test("speak of this program, and open what they speak of", async () => {
    await begin();
    expect(card().textContent).toContain("Each box is a statement of returns");
    expect(card().textContent).toContain("The outlined box is state[b, t + 1]");
    const selection = () => shown.store.values().selection;
    await press("ArrowRight");
    expect(card().textContent).toContain("state[b, t + 1] = 0.9 * state + 0.1 * wb.normal(over=(b, t))");
    expect(selection()).toMatchObject({ pane: "details", statements: ["state[t+1]"] });
    await press("ArrowRight");
    expect(selection()).toMatchObject({ pane: "code", level: "loops" });
    await press("ArrowRight");
    expect(title()).toBe("A move, and why it is legal");
    expect(JSON.parse(selection().move ?? "")).toMatchObject({ transform: "Vectorize", arguments: { dim: "b" } });
    await press("ArrowRight");
    expect(card().textContent).toContain("Vectorize('t', statements=('state[t+1]',)) is refused");
    expect(JSON.parse(selection().move ?? "")).toMatchObject({ arguments: { dim: "t", statements: ["state[t+1]"] } });
    await press("ArrowLeft");
    expect(title()).toBe("A move, and why it is legal");
    await press("ArrowRight");
    await press("ArrowRight");
    expect(card().textContent).toContain("The largest array is ");
    expect(selection()).toMatchObject({ pane: "memory" });
  });

  test("about moves are left out where there are none of their kind", async () => {
    const legal = (view: MovesView): MovesView => ({ ...view, moves: view.moves.filter(({ refused }) => refused === null) });
    await begin(withMoves(legal));
    expect(texts(shown.host, ".wbk-tour-left li")).toContain(
      "A move that would be wrong: none of its moves would violate a dependence",
    );
    await shown.takeDown();
    const refused = (view: MovesView): MovesView => ({ ...view, moves: view.moves.filter((move) => move.refused !== null) });
    await begin(withMoves(refused));
    expect(texts(shown.host, ".wbk-tour-left li")).toContain("A move, and why it is legal: every move of it is refused");
    expect(texts(shown.host, ".wbk-tour-count")).toEqual(["1 of 6"]);
  });

  test("end with the last, and begin anew after that", async () => {
    await begin();
    for (let stop = 1; stop < 7; stop++) await shown.press(byText(shown.host, "button", "Next"));
    await shown.press(byText(shown.host, "button", "Done"));
    expect(card()).toBeNull();
    await act(async () => startTour(shown.store));
    expect(title()).toBe("A program is a graph");
  });
});

describe("the card", () => {
  test("has the focus and is named and described for screen readers", async () => {
    await begin();
    expect(document.activeElement).toBe(card());
    const told = (attribute: string): string => document.getElementById(card().getAttribute(attribute) ?? "")?.textContent ?? "";
    expect(told("aria-labelledby")).toBe("A program is a graph");
    expect(told("aria-describedby")).toContain("Each box is a statement");
    outside.focus();
    await shown.press(shown.host.querySelector("[aria-label^='Stop 3']"));
    expect(document.activeElement).toBe(card());
    expect(texts(shown.host, ".wbk-tour-count")).toEqual(["3 of 7"]);
  });

  test("is left with Escape from anywhere in the workbench, gives the focus back and goes on where it was", async () => {
    await begin();
    await press("ArrowRight");
    await press("Escape", document.body);
    expect(card()).not.toBeNull();
    await press("Escape");
    expect(card()).toBeNull();
    await act(async () => new Promise((done) => setTimeout(done)));
    expect(document.activeElement).toBe(outside);
    await act(async () => startTour(shown.store));
    expect(title()).toBe("From a box to your line");
  });
});

describe("a program that vanished", () => {
  const other = (change: Partial<State>): State => ({ ...CAPSULE.state, revision: 100, ...change });

  test("is told, and the tour goes on with what is there", async () => {
    await begin();
    await press("ArrowRight");
    const [variant] = CAPSULE.state.variants;
    const anew = variant && { ...variant, key: "anew" };
    await shown.hear({ type: "state", state: other({ name: "small", root: "anew", current: "anew", variants: anew ? [anew] : [] }), open: true });
    expect(card().textContent).toContain("This tour was of returns, which is not shown any more: small is.");
    expect(document.activeElement).toBe(card());
    await shown.press(byText(shown.host, "button", "Go on with small"));
    expect(shown.store.values().selection.tour).toMatchObject({ root: "anew", program: "small", variant: "anew", open: true });
  });

  test("is told where it was written anew, and the tour can end", async () => {
    await begin();
    const [variant] = CAPSULE.state.variants;
    const anew = variant && { ...variant, key: "anew" };
    await shown.hear({ type: "state", state: other({ root: "anew", current: "anew", variants: anew ? [anew] : [] }), open: false });
    expect(card().textContent).toContain("returns was written anew");
    await shown.press(byText(shown.host, "button", "End the tour"));
    expect(shown.store.values().selection.tour).toBeNull();
  });

  test("a tour that began without one takes the first that comes", async () => {
    await begin();
    const { tour } = shown.store.values().selection;
    await act(async () => shown.store.select({ tour: tour && { ...tour, root: null, variant: "" } }));
    expect(shown.store.values().selection.tour).toMatchObject({ root: CAPSULE.state.root, variant: CAPSULE.state.current });
    expect(title()).toBe("A program is a graph");
  });
});

test("recurrences in most loops are told of before others", () => {
  const [first] = telling(SNAPSHOT?.nodes ?? []);
  expect(first?.id).toBe("state[t+1]");
});

test("what is outlined is what nothing cuts off", () => {
  const [root, pane, part] = [document.createElement("div"), document.createElement("div"), document.createElement("div")] as const;
  document.body.append(root);
  root.append(pane);
  pane.append(part);
  pane.style.overflow = "auto";
  const boxes = new Map<Element, DOMRect>([[root, new DOMRect(0, 0, 100, 100)], [pane, new DOMRect(10, 10, 50, 50)], [part, new DOMRect(20, 40, 80, 80)]]);
  for (const [element, box] of boxes) element.getBoundingClientRect = () => box;
  expect(inSight(part, root)).toEqual({ left: 20, top: 40, right: 60, bottom: 60 });
  part.getBoundingClientRect = () => new DOMRect(20, 70, 10, 10);
  expect(inSight(part, root)).toBeNull();
  root.remove();
});
