import { afterEach, describe, expect, test, vi } from "vitest";
import golden from "../../../../../tests/golden/session/play.json";
import type { Capsule, PlayView, VariantView } from "../../../src/protocol";
import { cardsOf } from "../../../src/views/play/cards";
import { commonSizes } from "../../../src/views/play/executions";
import { Play } from "../../../src/views/play/play";
import {
  changedBetween, elementsText, frameAt, nextOf, pointAt, positionOf, positionsOf, ranAt, type Script, scriptOf, told, twins, whereText,
} from "../../../src/views/play/script";
import { Variants } from "../../../src/views/variants/variants";
import { useSelection } from "../../../src/model/hooks";
import { act, byText, type Drawn, drawn, enter, fire, texts } from "../../drawing";

const CAPSULE = golden as unknown as Capsule;
const [root, axis, windows, blocks] = CAPSULE.state.variants as readonly [VariantView, VariantView, VariantView, VariantView];

function viewOf(variant: VariantView, sizes: Readonly<Record<string, number>> = {}): PlayView {
  const found = CAPSULE.parts.find(
    (part) => part.variant === variant.key && JSON.stringify(part.arguments["sizes"]) === JSON.stringify(sizes),
  );
  return found?.value as PlayView;
}

const scripts = [root, axis, windows, blocks].map((variant) => scriptOf(viewOf(variant)));
const [written, batched, folded] = scripts as [Script, Script, Script];

let shown: Drawn;
afterEach(async () => {
  await shown?.takeDown();
  vi.useRealTimers();
});

const key = (name: string): KeyboardEvent => new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true });
const now = (): readonly string[] => texts(shown.host, ".wbk-play-told b");
const slider = (): HTMLInputElement => shown.host.querySelector("input[type=range]") as HTMLInputElement;

describe("a script", () => {
  test("has every instance in the event that brings it", () => {
    for (const { events, instances, eventOf, before } of scripts) {
      expect(events.flatMap((event) => event.instances).sort((one, other) => one - other)).toEqual(instances.map((_, k) => k));
      events.forEach((event, time) => {
        expect(event.instances.map((instance) => eventOf[instance])).toEqual(event.instances.map(() => time));
        expect(event.instances.every((instance) => instances[instance]?.statement === event.statement)).toBe(true);
        expect((before[time + 1] ?? 0) - (before[time] ?? 0)).toBe(event.instances.length);
      });
    }
  });

  test("counts points with the last dimension fastest", () => {
    expect(Array.from({ length: 6 }, (_, place) => pointAt(place, [0, 1], [2, 3]))).toEqual([
      [0, 1], [0, 2], [0, 3], [1, 1], [1, 2], [1, 3],
    ]);
    expect(pointAt(0, [], [])).toEqual([]);
  });

  test("reads what was written before, and nothing that was written over since", () => {
    for (const { events, instances, slotsOf } of scripts) {
      const held = new Map<number, number>();
      for (const { instances: together } of events) {
        const played = together.flatMap((instance) => instances[instance] ?? []);
        for (const read of played.flatMap((one) => one.reads)) {
          for (const slot of slotsOf[read] ?? []) expect(held.get(slot)).toBe(read);
        }
        for (const { write } of played) for (const slot of slotsOf[write] ?? []) held.set(slot, write);
      }
    }
  });
});

describe("a frame", () => {
  test("begins with nothing and ends with all", () => {
    for (const script of scripts) {
      const [start, end] = [frameAt(script, 0), frameAt(script, script.events.length + 1)];
      expect(new Set(start.instances)).toEqual(new Set(["ahead"]));
      expect(new Set(start.slots)).toEqual(new Set(["empty"]));
      expect(new Set(end.instances)).toEqual(new Set(["done"]));
      expect(end.slots).not.toContain("empty");
    }
  });

  test("lights one event, and the slots that it reads and writes", () => {
    folded.events.forEach((event, time) => {
      const frame = frameAt(folded, time + 1);
      expect(frame.instances.flatMap((state, one) => (state === "now" ? one : []))).toEqual([...event.instances].sort((a, b) => a - b));
      const played = event.instances.flatMap((one) => folded.instances[one] ?? []);
      expect(frame.read).toEqual(new Set(played.flatMap(({ reads }) => reads.flatMap((read) => folded.slotsOf[read] ?? []))));
      for (const { write } of played) for (const slot of folded.slotsOf[write] ?? []) expect(frame.held[slot]).toBe(write);
    });
  });

  test("a slot is dead from its element's last read until it is written again; outputs are read at the end", () => {
    const end = frameAt(folded, folded.events.length + 1);
    for (const [number, memory] of folded.view.memories.entries()) {
      const first = folded.firstSlot[number] ?? 0;
      const states = new Set(end.slots.slice(first, first + memory.slots));
      expect(states).toEqual(new Set([memory.arrays.some((array) => folded.view.arrays[array]?.output) ? "live" : "dead"]));
    }
  });

  test("nothing differs from another but what changes between them", () => {
    for (const [one, other] of [[0, 1], [3, 4], [9, 5], [0, 20], [folded.events.length + 1, 2]] as const) {
      const [before, after] = [frameAt(folded, one), frameAt(folded, other)];
      const changed = changedBetween(folded, one, other);
      after.instances.forEach((state, instance) => {
        if (!changed.instances.has(instance)) expect(state).toBe(before.instances[instance]);
      });
      after.slots.forEach((state, slot) => {
        if (changed.slots.has(slot)) return;
        expect([state, after.held[slot], after.read.has(slot), after.written.has(slot)]).toEqual(
          [before.slots[slot], before.held[slot], before.read.has(slot), before.written.has(slot)],
        );
      });
    }
  });

  test("is drawn the same whatever was drawn before", async () => {
    shown = await drawn(Play, CAPSULE);
    const classes = (): readonly (string | null)[] =>
      [...shown.host.querySelectorAll("[data-instance], [data-slot]")].map((one) => one.getAttribute("class"));
    for (const at of [4, 3, 11, 0, 16, 7]) {
      await enter(slider(), String(at));
      const frame = frameAt(folded, at);
      const instances = frame.instances.map((state) => `wbk-play-${state}`);
      const slots = frame.slots.map(
        (state, slot) => `wbk-play-${state}${frame.read.has(slot) ? " wbk-play-read" : ""}${frame.written.has(slot) ? " wbk-play-written" : ""}`,
      );
      expect([...classes()].sort()).toEqual([...instances, ...slots].sort());
    }
  });

  test("what nothing here writes was there before", () => {
    const view = viewOf(axis);
    const only = view.statements.findIndex(({ statement }) => statement === "to_go");
    const own = { ...view, statements: view.statements.slice(only, only + 1) };
    const order = view.order.filter((statement) => statement === only);
    const script = scriptOf({ ...own, order: order.map(() => 0), at_once: order.map(() => 3) });
    const frame = frameAt(script, 0);
    for (const [number, memory] of view.memories.entries()) {
      const written = memory.arrays.some((array) => view.arrays[array]?.name === "to_go");
      const first = script.firstSlot[number] ?? 0;
      expect(new Set(frame.slots.slice(first, first + memory.slots))).toEqual(new Set([written ? "empty" : "live"]));
    }
  });

  test("a window uses fewer slots for the same instances", () => {
    expect(folded.instances.length).toBe(batched.instances.length);
    expect(folded.slots).toBeLessThan(batched.slots);
  });
});

describe("in step", () => {
  test("an axis stays lit while the loop beside it brings its instances one by one", () => {
    const positions = positionsOf([written, batched]);
    expect(positions).toEqual(Array.from({ length: written.instances.length + 1 }, (_, k) => k));
    const first = batched.events[0]?.instances.length ?? 0;
    expect(first).toBeGreaterThan(1);
    for (let instance = 1; instance <= first; instance++) {
      expect(ranAt(written, instance)).toBe(instance);
      expect(ranAt(batched, instance)).toBe(1);
    }
    expect(ranAt(batched, first + 1)).toBe(2);
  });

  test("alone, every position is an event", () => {
    const positions = positionsOf([batched]);
    expect(positions.map((position) => ranAt(batched, position))).toEqual(
      Array.from({ length: batched.events.length + 1 }, (_, k) => k),
    );
    batched.events.forEach((_, time) => expect(ranAt(batched, positionOf(batched, time))).toBe(time + 1));
  });

  test("a script with fewer instances is over before the other", () => {
    const frame = frameAt(written, ranAt(written, written.instances.length + 5));
    expect(frame.instances).not.toContain("now");
  });

  test("instances are those of the same origin and coordinates", () => {
    for (const ran of [1, 2, batched.events.length]) {
      const found = twins(written, batched, ran);
      const now = batched.events[ran - 1]?.instances ?? [];
      expect([...found].map((one) => written.names[one]).sort()).toEqual(now.map((one) => batched.names[one]).sort());
    }
    expect(twins(written, batched, 0).size).toBe(0);
  });

  test("sizes suit both", () => {
    const views = [viewOf(root), viewOf(blocks)];
    expect(commonSizes(views, ["B", "T"])).toEqual({ B: 7, T: 3 });
  });
});

describe("in words", () => {
  test("says where instances are", () => {
    expect(whereText(["b", "t"], [[0, 1], [1, 1], [2, 1]])).toBe("b=0..2, t=1");
    expect(whereText(["b"], [[0], [2]])).toBe("b=0,2");
    expect(whereText([], [[]])).toBe("");
  });

  test("says what is read and written, and what was in the slot", () => {
    expect(told(folded, 0)).toBeNull();
    const step = folded.events.findIndex(
      ({ statement }, time) => folded.view.statements[statement]?.title === "state[b, t + 1]" && nextOf(folded, folded.view.statements[statement]?.statement ?? "", time) === time && told(folded, time + 1)?.writes.includes("over"),
    );
    expect(told(folded, step + 1)).toMatchObject({
      where: "b=0..2, t=1",
      count: 3,
      reads: expect.stringContaining("state[0..2, 1]"),
      writes: "state[0..2, 2], over state[0..2, 0]",
    });
    expect(told(written, 1)).toMatchObject({ count: 1, reads: "", writes: expect.stringMatching(/^\w+\[0, 0\]$/) });
    const [array] = written.view.arrays;
    expect(elementsText(written, [0, (array?.lengths[1] ?? 0) + 1])).toBe(`2 of ${array?.name}`);
    expect(elementsText(written, [])).toBe("");
  });

  test("the next event of a statement comes round again", () => {
    const own = written.events.flatMap(({ statement }, time) => (written.view.statements[statement]?.statement === "to_go" ? [time] : []));
    expect(nextOf(written, "to_go", 0)).toBe(own[0]);
    expect(nextOf(written, "to_go", (own[0] ?? 0) + 1)).toBe(own[1]);
    expect(nextOf(written, "to_go", written.events.length)).toBe(own[0]);
    expect(nextOf(written, "nothing", 0)).toBeNull();
  });
});

describe("cards", () => {
  test("no spot is on another, and all are inside", () => {
    for (const script of scripts) {
      for (const { statements, slots } of cardsOf(script)) {
        for (const grid of [...statements, slots]) {
          const places = grid.spots.map(({ x, y }) => `${x} ${y}`);
          expect(new Set(places).size).toBe(places.length);
          for (const { x, y } of grid.spots) {
            expect(x).toBeLessThan(grid.width);
            expect(y).toBeLessThan(grid.height);
          }
        }
      }
    }
  });

  test("every instance and every slot has a place", () => {
    for (const script of scripts) {
      const cards = cardsOf(script);
      expect(cards.flatMap((card) => card.statements.flatMap((grid) => grid.spots)).length).toBe(script.instances.length);
      expect(cards.flatMap((card) => card.slots.spots).length).toBe(script.slots);
    }
  });
});

describe("the player", () => {
  const open = async (): Promise<void> => {
    shown = await drawn(Play, CAPSULE);
  };
  const player = (): Element => shown.host.querySelector(".wbk-player") as Element;

  test("shows an array a card, with its slots and what of it is kept", async () => {
    await open();
    expect(texts(shown.host, ".wbk-play-card h5")).toContain("statet: 2 of 4");
    expect(shown.host.querySelectorAll("[data-slot]").length).toBe(folded.slots);
    expect(shown.host.querySelectorAll("[data-instance]").length).toBe(folded.instances.length);
    expect(shown.host.textContent).toContain("Nothing has run yet.");
  });

  test("steps by keys and buttons, and lights what happens", async () => {
    await open();
    await fire(player(), key("ArrowRight"));
    expect(slider().value).toBe("1");
    expect(shown.host.querySelectorAll("circle.wbk-play-now[data-instance]").length).toBe(folded.events[0]?.instances.length);
    expect(now()).toEqual([told(folded, 1)?.title]);
    await shown.press(shown.host.querySelector("[aria-label='One event on']"));
    expect(slider().value).toBe("2");
    await fire(player(), key("ArrowLeft"));
    await fire(player(), key("ArrowLeft"));
    await fire(player(), key("ArrowLeft"));
    expect(slider().value).toBe("0");
    await fire(player(), key("End"));
    expect(slider().value).toBe(String(folded.events.length));
    expect(shown.host.querySelectorAll("circle.wbk-play-ahead[data-instance]").length).toBe(0);
    await fire(player(), key("Home"));
    expect(shown.host.querySelectorAll("circle.wbk-play-ahead[data-instance]").length).toBe(folded.instances.length);
  });

  test("goes on where it was left when its pane is opened again, and another execution at its start", async () => {
    const Pane = (): JSX.Element => (useSelection().pane === "play" ? <Play /> : <></>);
    shown = await drawn(Pane, CAPSULE);
    const open = (pane: string): Promise<void> => act(async () => shown.store.select({ pane }));
    await open("play");
    await fire(player(), key("ArrowRight"));
    await fire(player(), key("ArrowRight"));
    await open("details");
    await open("play");
    expect(slider().value).toBe("2");
    await act(async () => shown.store.select({ beside: root?.key ?? "" }));
    expect(slider().value).toBe("0");
  });

  test("labels a slot with the element that it holds", async () => {
    await open();
    await fire(player(), key("End"));
    const end = frameAt(folded, folded.events.length);
    const labels = [...shown.host.querySelectorAll("[data-slot]")].map((slot) => [
      Number(slot.getAttribute("data-slot")),
      slot.querySelector("text")?.textContent,
    ] as const);
    for (const [slot, label] of labels) {
      if (label === undefined) continue;
      const held = elementsText(folded, [end.held[slot] ?? -1]).replaceAll(" ", "");
      expect(label ? held.endsWith(`[${label}]`) : /^\w*$/.test(held)).toBe(true);
    }
  });

  test("plays by itself, pauses, and stops at the end", async () => {
    vi.useFakeTimers({ toFake: ["requestAnimationFrame", "cancelAnimationFrame", "performance"] });
    await open();
    await enter(shown.host.querySelector(".wbk-play-controls select"), "10");
    await fire(player(), key(" "));
    await act(async () => vi.advanceTimersByTime(1050));
    const at = Number(slider().value);
    expect(at).toBeGreaterThanOrEqual(9);
    expect(at).toBeLessThanOrEqual(11);
    await fire(player(), key(" "));
    await act(async () => vi.advanceTimersByTime(1000));
    expect(Number(slider().value)).toBe(at);
    await enter(shown.host.querySelector(".wbk-play-controls select"), "60");
    await fire(player(), key(" "));
    await act(async () => vi.advanceTimersByTime(60_000));
    expect(Number(slider().value)).toBe(folded.events.length);
    expect(shown.host.querySelector("[aria-label='Play']")).not.toBeNull();
    await fire(player(), key(" ")); // again from the start
    expect(Number(slider().value)).toBe(0);
  });

  test("an instance that is pressed is gone to, and its statement selected", async () => {
    await open();
    const instance = folded.events[5]?.instances[0] ?? 0;
    await shown.press(shown.host.querySelector(`[data-instance="${instance}"]`));
    expect(slider().value).toBe("6");
    const statement = folded.view.statements[folded.events[5]?.statement ?? 0]?.statement;
    expect(shown.store.values().selection.statements).toEqual([statement]);
    const next = nextOf(folded, statement ?? "", 6);
    await shown.press(byText(shown.host, "button", "Next "));
    expect(slider().value).toBe(String((next ?? 0) + 1));
  });

  test("plays another variant beside, in step, at sizes that suit both", async () => {
    await open();
    await enter(shown.host.querySelector(".wbk-play-controls select.wbk-long"), blocks.key);
    expect(texts(shown.host, ".wbk-play-head h4")).toEqual(["Vectorize('b') · Contract", "Vectorize('b') · Tile('b', 16)"]);
    expect(shown.host.textContent).toContain("Played in blocks of 3 instead of 16.");
    const sides = [...shown.host.querySelectorAll(".wbk-play-side")];
    const [left, right] = [windows, blocks].map((variant) => scriptOf(viewOf(variant, { B: 7, T: 3 }))) as [Script, Script];
    expect(sides.map((side) => side.querySelectorAll("[data-instance]").length)).toEqual([left.instances.length, right.instances.length]);
    await fire(player(), key("ArrowRight"));
    const lit = (side: Element | undefined, name: string): number => side?.querySelectorAll(`[data-instance].${name}`).length ?? 0;
    expect(lit(sides[0], "wbk-play-now")).toBe(left.events[0]?.instances.length);
    expect(lit(sides[1], "wbk-play-now")).toBe(right.events[0]?.instances.length);
    expect(lit(sides[1], "wbk-play-twin")).toBe(twins(right, left, 1).size);
  });

  test("sizes that were not saved are said to be missing, and can be put back", async () => {
    await open();
    await enter(shown.host.querySelector(".wbk-small-sizes input"), "5");
    expect(shown.host.textContent).toContain("What was saved does not hold the schedule, instance by instance.");
    await shown.press(byText(shown.host, "button", "Back to the least sizes"));
    expect(shown.host.querySelector(".wbk-player")).not.toBeNull();
  });

  test("of a program that is too large the selected statement is asked for", async () => {
    const parts = CAPSULE.parts.map((part) => ({ ...part, value: { ...(part.value as PlayView), whole: false, remark: "too many" } }));
    shown = await drawn(Play, { ...CAPSULE, parts }, true);
    expect(texts(shown.host, ".wbk-note")).toContain("too many Select another statement to play that.");
    await act(async () => shown.store.select({ statements: ["to_go"] }));
    expect(shown.parts.at(-1)).toMatchObject({ part: "play", arguments: { statement: "to_go", sizes: {} } });
  });
});

describe("sizes that are too large", () => {
  const nothing = { statements: [], arrays: [], memories: [], order: [], at_once: [], whole: false, remark: "" };
  const large = (smaller: PlayView["smaller"]): PlayView => ({
    ...viewOf(axis), ...nothing, sizes: { B: 300, T: 7 }, too_large: "x has 2,100 instances: B=300 is too large, B=150 can be played", smaller,
  });
  const ask = async (value: PlayView): Promise<void> => {
    shown = await drawn(Play, CAPSULE, true);
    await enter(shown.host.querySelector(".wbk-small-sizes input"), "300");
    const last = shown.parts.at(-1);
    if (last?.type !== "want") throw new Error("nothing was asked for");
    await shown.part(last.id, value);
  };

  test("are said, can be changed, and smaller ones are played with one press", async () => {
    await ask(large({ B: 150, T: 7 }));
    expect(texts(shown.host, "[role=alert]")).toEqual(["x has 2,100 instances: B=300 is too large, B=150 can be playedPlay at B=150, T=7"]);
    expect(shown.host.querySelector(".wbk-player")).toBeNull();
    expect([...shown.host.querySelectorAll<HTMLInputElement>(".wbk-small-sizes input")].map(({ value }) => value)).toEqual(["300", "7"]);
    await shown.press(byText(shown.host, "button", "Play at B=150, T=7"));
    expect(shown.parts.at(-1)).toMatchObject({ type: "want", part: "play", arguments: { sizes: { B: 150, T: 7 } } });
    expect(shown.host.querySelectorAll(".wbk-small-sizes input").length).toBe(2);
  });

  test("are said where a part is played, and all of it is with one press", async () => {
    await ask({ ...viewOf(axis), whole: false, remark: "too many: T=3000 is too large", smaller: { B: 3, T: 40 } });
    expect(shown.host.querySelector(".wbk-player")).not.toBeNull();
    await shown.press(byText(shown.host, "button", "Play all of it at B=3, T=40"));
    expect(shown.parts.at(-1)).toMatchObject({ type: "want", part: "play", arguments: { sizes: { B: 3, T: 40 } } });
  });

  test("are said where there are no smaller ones, with a way back", async () => {
    await ask(large(null));
    expect(byText(shown.host, "button", "Play at")).toBeUndefined();
    await shown.press(byText(shown.host, "button", "Back to the least sizes"));
    expect(shown.host.querySelector(".wbk-player")).not.toBeNull();
  });
});

describe("from the tree of variants", () => {
  test("another variant is played beside the shown one", async () => {
    shown = await drawn(Variants, CAPSULE);
    const [first] = [...shown.host.querySelectorAll(".wbk-stop")];
    await shown.press(first?.querySelector("[aria-haspopup=menu]"));
    await shown.press(byText(shown.host, "[role=menuitem]", "beside the shown one"));
    expect(shown.store.values().selection).toMatchObject({ pane: "play", beside: root.key });
    await shown.press(shown.host.querySelector(".wbk-current [aria-haspopup=menu]"));
    await shown.press(byText(shown.host, "[role=menuitem]", "Play its schedule"));
    expect(shown.store.values().selection.pane).toBe("play");
  });
});
