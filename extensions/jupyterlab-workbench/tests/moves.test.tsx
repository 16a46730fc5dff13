import { afterEach, describe, expect, test } from "vitest";
import golden from "../../../tests/golden/session/steps.json";
import { merged } from "../src/model/parts";
import type { Capsule, EffectView, MovesView, PreviewView, Snapshot } from "../src/protocol";
import { filtered, NO_FILTER, sorted } from "../src/views/move-list";
import { Moves, parted } from "../src/views/moves";
import { changedStatements } from "../src/views/preview";
import { changes, changeText, worth } from "../src/views/price";
import "../src/views/step-form"; // what is loaded when it is needed is there at once
import { formOf, startOf, stepFrom, suggestionsOf } from "../src/views/step-schema";
import { act, byText, type Drawn, drawn, enter, fire, texts } from "./drawing";

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
const listed = (moves: MovesView) => moves.moves.map((move) => ({ move, before: moves.before }));

describe("the list", () => {
  test("every move is there, refused ones last with their reason and a way to the picture", async () => {
    shown = await drawn(Moves, CAPSULE);
    expect(rows()).toHaveLength(whole.moves.length);
    const refused = whole.moves.filter((move) => move.refusal);
    const last = [...shown.host.querySelectorAll(".wbk-move")].slice(-refused.length);
    expect(last.every((row) => row.classList.contains("wbk-refused-move"))).toBe(true);
    const reasons = new Set(refused.map((move) => move.refusal?.sentence.replace(`${move.step.text}: `, "")));
    expect(new Set(texts(shown.host, ".wbk-reason"))).toEqual(reasons);
  });

  test("what is predicted to help most stands first", () => {
    const order = sorted(listed(whole), "time").filter(({ move }) => move.effect);
    const seconds = order.map(({ move }) => move.effect?.seconds ?? 0);
    const least = Math.min(...seconds);
    expect(seconds[0]).toBe(least);
    const peaks = sorted(listed(whole), "peak").filter(({ move }) => move.effect);
    expect(peaks[0]?.move.effect?.peak_bytes["device"]).toBe(
      Math.min(...peaks.map(({ move }) => move.effect?.peak_bytes["device"] ?? 0)),
    );
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

  test("a move that both streams tell of takes the price from the one that has it", () => {
    const move = whole.moves.find((one) => one.effect) as MovesView["moves"][number];
    const unpriced = { ...whole, moves: [{ ...move, effect: null }] };
    const { first, rest } = parted(whole, unpriced, [], new Set());
    expect(first.map((one) => one.move.effect)).toEqual([move.effect]);
    expect(rest).toHaveLength(whole.moves.length - 1);
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
    const refused = whole.moves.find((move) => move.refusal);
    const word = refused?.refusal?.sentence.split(" ").at(-1) ?? "";
    expect(filtered(listed(whole), { ...NO_FILTER, text: word }).map(({ move }) => move)).toContain(refused);
  });

  test("a saved workbench without moves says so", async () => {
    shown = await drawn(Moves, { ...CAPSULE, parts: CAPSULE.parts.filter((one) => one.part === "snapshot") });
    expect(shown.host.textContent).toContain("What was saved does not hold the moves");
  });

  test("batches that come later add to those before, and prices replace what had none", () => {
    const [one, ...others] = whole.moves;
    const bare = (moves: MovesView["moves"]): MovesView => ({ before: null, transforms: [], moves, remark: "" });
    let now: unknown = { ...bare([]), transforms: whole.transforms };
    now = merged("moves", now, bare([{ ...one, effect: null } as MovesView["moves"][number]]));
    now = merged("moves", now, bare(others));
    now = merged("moves", now, { ...bare([]), before: whole.before });
    now = merged("moves", now, bare([one as MovesView["moves"][number]]));
    expect(now).toEqual(whole);
  });

  test("arrow keys go from the filter into the list and through it", async () => {
    shown = await drawn(Moves, CAPSULE);
    Element.prototype.scrollIntoView = () => undefined;
    const search = shown.host.querySelector<HTMLInputElement>("input[type=search]");
    search?.focus();
    const down = (): Event => new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true });
    await fire(search, down());
    expect(document.activeElement?.textContent).toBe(rows()[0]);
    await fire(document.activeElement, down());
    expect(document.activeElement?.textContent).toBe(rows()[1]);
  });
});

describe("price tags", () => {
  const before: EffectView = { seconds: 2, peak_bytes: { device: 1000, host: 0 } };
  const after = (seconds: number, device: number, host = 0): EffectView => ({ seconds, peak_bytes: { device, host } });

  test("say how much less or more", () => {
    const said = (to: EffectView): readonly string[] => changes(before, to).map(changeText);
    expect(said(after(1.9, 1200))).toEqual(["−5.0 %", "+20 %"]);
    expect(said(after(0.05, 1000))).toEqual(["÷ 40", "same"]);
    expect(said(after(6.2, 500, 300))).toEqual(["× 3.1", "÷ 2", "+300 B"]);
    expect(said(after(2.001, 0))).toEqual(["same", "none"]);
  });

  test("time decides, memory where the time is the same; unknown is worth nothing", () => {
    expect(worth(before, after(1, 5000), "time")).toBeLessThan(worth(before, after(1.5, 10), "time"));
    expect(worth(before, after(2, 900), "time")).toBeLessThan(worth(before, after(2, 1000), "time"));
    expect(worth(before, after(9, 10), "peak")).toBeLessThan(worth(before, after(1, 900), "peak"));
    expect(worth(before, null, "time")).toBe(0);
  });
});

describe("an open step", () => {
  const open = async (text: string, live = false): Promise<void> => {
    shown = await drawn(Moves, CAPSULE, live);
    await act(async () => shown.store.select({ move: JSON.stringify(previewOf(text).step.json) }));
  };

  test("shows what it costs before and after, and how the order changes", async () => {
    await open("Vectorize('b')");
    expect(shown.host.querySelector("h3")?.textContent).toBe("Vectorize('b')");
    expect(texts(shown.host, ".wbk-costs th")).toEqual(["time", "peak"]);
    expect(texts(shown.host, ".wbk-levels button")).toEqual(["Order", "Loops"]);
    expect(shown.host.textContent).toContain("The equations stay as they are");
    expect(texts(shown.host, ".cm-changedLine").some((line) => line.includes("axis b:"))).toBe(true);
  });

  test("lists the statements that it changes", async () => {
    const preview = previewOf("Incrementalize('to_go', 't')");
    const found = changedStatements(snapshot, preview.snapshot as Snapshot);
    expect(found.other.map((node) => node.id)).toContain("to_go");
    expect(found.fresh.length).toBeGreaterThan(0);
    await open("Incrementalize('to_go', 't')");
    expect(texts(shown.host, ".wbk-changed-word")).toEqual([
      `${found.fresh.length} new`,
      `${found.other.length} changed`,
    ]);
    await shown.press(byText(shown.host, ".wbk-changed button", "to_go"));
    expect(shown.store.values().selection.statements).toEqual(["to_go"]);
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
    const error = { sentence: "there is no such variant <b>any</b> more", line: null, trace: "" };
    await shown.answer((id) => ({ type: "failed", id, error }));
    expect(texts(shown.host, "[role=alert]")).toEqual([error.sentence]);
    expect(byText(shown.host, "button", "Apply")).toHaveProperty("disabled", false);
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

describe("the form", () => {
  const transform = (name: string): MovesView["transforms"][number] =>
    whole.transforms.find((one) => one.name === name) as MovesView["transforms"][number];

  test.each(whole.transforms.map((one) => one.name))("has a field for every argument of %s", (name) => {
    const { schema, ui } = formOf(transform(name), suggestionsOf(snapshot));
    const given = transform(name).schema["properties"] as Record<string, { names?: string }>;
    expect(Object.keys(schema.properties ?? {})).toEqual(Object.keys(given));
    for (const [argument, property] of Object.entries(given)) {
      const known = ui[argument]["ui:options"].known as readonly string[];
      if (property.names) expect(known.length).toBeGreaterThan(0);
    }
  });

  test.each(whole.moves.map((move) => [move.step.text, move.step.json] as const))("gives %s back", (_, json) => {
    const kind = transform(String(json["transform"]));
    expect(stepFrom(kind, startOf(kind, json, []))).toEqual(json);
  });

  test("starts with what is selected and opens the step that it describes", async () => {
    shown = await drawn(Moves, CAPSULE);
    await act(async () => shown.store.select({ statements: ["state[t+1]"] }));
    await shown.press(byText(shown.host, "button", "New step"));
    await act(async () => new Promise((later) => setTimeout(later, 0)));
    expect(texts(shown.host, ".wbk-chip")).toEqual(["state[t+1]×"]);
    await enter(shown.host.querySelector(".wbk-name-input"), "t");
    await fire(shown.host.querySelector("form"), new Event("submit", { bubbles: true, cancelable: true }));
    expect(JSON.parse(shown.store.values().selection.move ?? "null")).toEqual({
      transform: "Vectorize",
      arguments: { dim: "t", statements: ["state[t+1]"] },
    });
    expect(shown.host.textContent).toContain("A dependence would be violated");
  });

  test("says which argument is needed", async () => {
    shown = await drawn(Moves, CAPSULE);
    await shown.press(byText(shown.host, "button", "New step"));
    await act(async () => new Promise((later) => setTimeout(later, 0)));
    await enter(shown.host.querySelector(".wbk-step-kind select"), "Tile");
    await fire(shown.host.querySelector("form"), new Event("submit", { bubbles: true, cancelable: true }));
    expect(texts(shown.host, ".wbk-field-error")).toEqual(["dim is needed", "size is needed"]);
    expect(shown.store.values().selection.move).toBeNull();
  });
});
