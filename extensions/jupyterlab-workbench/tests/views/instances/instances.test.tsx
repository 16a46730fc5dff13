import { afterEach, describe, expect, test } from "vitest";
import golden from "../../../../../tests/golden/session/steps.json";
import type { Capsule, DomainView, ValueView, WhyView } from "../../../src/protocol";
import { Details } from "../../../src/views/details/details";
import { Domain } from "../../../src/views/instances/domain";
import { Moves } from "../../../src/views/moves/moves";
import { instanceText, summary } from "../../../src/views/instances/space";
import { bestAxes, layout, RADIUS, valuesOf } from "../../../src/views/instances/space-layout";
import { act, byText, type Drawn, drawn, enter, fire, texts } from "../../drawing";

const CAPSULE = golden as unknown as Capsule;
const parts = <T,>(part: string): readonly T[] =>
  CAPSULE.parts.filter((one) => one.part === part).map((one) => one.value as T);
const domains = parts<DomainView>("domain");
const whys = parts<WhyView>("why");

let shown: Drawn;
afterEach(() => shown?.takeDown());

describe("where instances stand", () => {
  const spaces = [...domains, ...whys.flatMap((why) => (why.space ? [why.space] : []))];

  test.each(spaces.map((space, number) => [number, space] as const))("none on another (%i)", (_, space) => {
    for (const axes of [bestAxes(space), { x: "t", y: "b" }, { x: "b", y: "" }]) {
      const cuts = Object.fromEntries(
        ["b", "t"].filter((dim) => dim !== axes.x && dim !== axes.y).map((dim) => [dim, valuesOf(space, dim)[0] ?? 0]),
      );
      const { spots, lines, hidden, width, height } = layout(space, axes, cuts);
      for (const { title } of space.statements) expect(width).toBeGreaterThan(9 + 7 * title.length); // read whole
      for (const [number, one] of spots.entries()) {
        expect(one.x).toBeGreaterThan(RADIUS);
        expect(one.x).toBeLessThan(width - RADIUS);
        expect(one.y).toBeLessThan(height - RADIUS);
        for (const other of spots.slice(number + 1)) {
          expect(Math.hypot(one.x - other.x, one.y - other.y)).toBeGreaterThan(2 * RADIUS);
        }
      }
      expect(lines.length + hidden).toBe(space.arrows.length);
    }
  });

  test("right of the labels of their rows, however long these are", () => {
    const renamed = (dim: string): DomainView => {
      const [space] = domains as [DomainView];
      const named = (dims: readonly string[]): string[] => dims.map((one) => (one === "b" ? dim : one));
      return { ...space, statements: space.statements.map((one) => ({ ...one, dims: named(one.dims) })) };
    };
    for (const dim of ["b", "episode", "the_block_of_the_environments"]) {
      const { bands, spots } = layout(renamed(dim), { x: "t", y: dim }, {});
      const longest = Math.max(...bands.flatMap(({ rows }) => rows.map(({ label }) => label.length)));
      expect(longest).toBeLessThanOrEqual(20);
      for (const { x } of spots) expect(x - RADIUS).toBeGreaterThan(9 + 6.6 * longest);
    }
  });

  test("the axis is one along which instances depend on each other", () => {
    const [state] = domains as [DomainView];
    expect(bestAxes(state)).toEqual({ x: "t", y: "b" });
    expect(bestAxes(domains[2] as DomainView)).toEqual({ x: "t", y: "" });
    expect(bestAxes(state, ["b"])).toEqual({ x: "b", y: "t" });
  });

  test("what is violated is drawn last", () => {
    const space = whys.find((why) => why.space)?.space as DomainView;
    const violated = layout(space, bestAxes(space), {}).lines.map((line) => line.arrow.violated);
    expect(violated).toEqual([...violated].sort((one, other) => Number(one) - Number(other)));
  });
});

test("a picture of one instance and one dependence says so", () => {
  const [space] = domains as [DomainView];
  const [one] = space.statements;
  const alone = { ...space, statements: one ? [{ ...one, title: "y", points: [[]] }] : [] };
  expect(summary({ ...alone, arrows: [] })).toBe("1 instance of y; 0 dependences");
  expect(summary({ ...alone, arrows: space.arrows.slice(0, 1) })).toMatch(/^1 instance of y; 1 dependence(,|$)/);
});

describe("why not", () => {
  const open = async (step: string): Promise<WhyView> => {
    const why = whys.find((one) => one.step.text === step) as WhyView;
    shown = await drawn(Moves, CAPSULE);
    await act(async () => shown.store.select({ move: JSON.stringify(why.step.json) }));
    return why;
  };

  test("names the sentence, the user's line and both instances, and draws them", async () => {
    const why = await open("Vectorize('t', statements=('state[t+1]',))");
    expect(shown.host.textContent).toContain(why.refusal.sentence.replace(`${why.step.text}: `, ""));
    expect(shown.host.textContent).toContain(why.refusal.line?.text.trim());
    expect(texts(shown.host, ".wbk-story dd")).toEqual([
      `${why.pair?.source.text} writes ${why.pair?.element_text}`,
      `${why.pair?.sink.text} reads it, but would run at once with A (both are 1)`,
    ]);
    expect(texts(shown.host, ".wbk-letter")).toEqual(["A", "B"]);
    expect(shown.host.querySelectorAll(".wbk-witness")).toHaveLength(1);
    expect(shown.host.querySelectorAll(".wbk-broken.wbk-arrow").length).toBe(
      why.space?.arrows.filter((arrow) => arrow.violated).length,
    );
    expect(byText(shown.host, "button", "Apply")).toHaveProperty("disabled", true);
  });

  test("says who takes the place of what is still to be read", async () => {
    await open("Contract('reward', 't')");
    const [first, second] = texts(shown.host, ".wbk-story dd");
    expect(first).toContain("takes the place of reward[");
    expect(second).toContain("has still to read it then");
  });

  test("sizes can be set; where they are too small it is said", async () => {
    await open("Vectorize('t', statements=('state[t+1]',))");
    const sizes = [...shown.host.querySelectorAll<HTMLInputElement>(".wbk-one-size input")];
    expect(sizes.map((input) => input.value)).toEqual(["1", "4"]);
    await enter(sizes[1], "1");
    expect(shown.host.textContent).toContain("it takes at least T=2 for this to happen.");
    expect(shown.host.querySelector("svg")).toBeNull();
  });

  test("what is being typed and is no size is marked and asks for nothing", async () => {
    await open("Vectorize('t', statements=('state[t+1]',))");
    const input = shown.host.querySelectorAll<HTMLInputElement>(".wbk-one-size input")[1];
    await enter(input, "");
    expect(input?.getAttribute("aria-invalid")).toBe("true");
    expect(texts(shown.host, ".wbk-field-error")).toEqual(["T is empty; expected a whole number of at least 1"]);
    await enter(input, "2.5");
    expect(texts(shown.host, ".wbk-field-error")).toEqual(["T is 2.5; expected a whole number of at least 1"]);
    expect(shown.host.querySelector("svg")).not.toBeNull();
  });

  test("what lacks a capability has a sentence and no picture", async () => {
    await open("Recompute('state')");
    expect(texts(shown.host, ".wbk-why-kind")).toEqual(["This cannot be done"]);
    expect(shown.host.querySelector("svg")).toBeNull();
  });

  test("repairs open as steps of their own", async () => {
    const why = whys.find((one) => one.step.text === "Recompute('state')") as WhyView;
    const place = { ...why.step, text: "Vectorize('b')", json: { transform: "Vectorize", arguments: { dim: "b", statements: null } } };
    const refusal = { ...why.refusal, repairs: [place], instead: [] };
    const altered = CAPSULE.parts.map((part) => {
      const value = part.value as { step?: { text: string } };
      return value.step?.text === why.step.text ? { ...part, value: { ...value, refusal } } : part;
    });
    shown = await drawn(Moves, { ...CAPSULE, parts: altered });
    await act(async () => shown.store.select({ move: JSON.stringify(why.step.json) }));
    await shown.press(byText(shown.host, ".wbk-step-button", "First: Vectorize('b')"));
    expect(shown.host.querySelector("h3")?.textContent).toBe("Vectorize('b')");
    expect(shown.host.querySelector(".wbk-costs")).not.toBeNull();
  });
});

describe("instances and values", () => {
  const spot = (label: string): Element | null =>
    shown.host.querySelector(`.wbk-point[aria-label^="${label},"]`);
  const fixed = async (statement: string): Promise<void> => {
    shown = await drawn(Domain, CAPSULE);
    await act(async () => shown.store.select({ statements: [statement] }));
    const sizes = [...shown.host.querySelectorAll<HTMLInputElement>(".wbk-one-size input")];
    for (const [place, value] of ["2", "4"].entries()) {
      await enter(sizes[place], value);
    }
  };

  test("without a selection it says what to do", async () => {
    shown = await drawn(Domain, CAPSULE);
    expect(shown.host.textContent).toContain("Select a statement in the graph");
  });

  test("every instance and dependence of the selected statement is drawn", async () => {
    shown = await drawn(Domain, CAPSULE);
    await act(async () => shown.store.select({ statements: ["state[t+1]"] }));
    const [space] = domains as [DomainView];
    expect(shown.host.querySelectorAll(".wbk-point")).toHaveLength(space.statements[0]?.points.length ?? 0);
    expect(shown.host.querySelectorAll(".wbk-arrow")).toHaveLength(space.arrows.length);
    const first = space.statements[0];
    expect(spot(first ? instanceText(first, 0) : "")).not.toBeNull();
  });

  test("a picked instance is the selection's, shows its value, and its inputs lead back", async () => {
    const capsule = withSizes();
    shown = await drawn(Domain, capsule);
    await act(async () => shown.store.select({ statements: ["state[t+1]"] }));
    await fire(spot("state[t+1] at b=1, t=1"), new MouseEvent("click", { bubbles: true }));
    expect(shown.store.values().selection.instance).toEqual({ b: 1, t: 1 });
    const value = parts<ValueView>("value")[0] as ValueView;
    expect(shown.host.querySelector(".wbk-value-of")?.textContent).toBe(`state[b=1, t=2] = ${value.of.text}`);
    expect(texts(shown.host, ".wbk-inputs button")).toEqual(["state[b=1, t=1]", expect.stringContaining("normal")]);
    await shown.press(byText(shown.host, ".wbk-inputs button", "state[b=1, t=1]"));
    expect(shown.store.values().selection.instance).toEqual({ b: 1, t: 0 });
    expect(texts(shown.host, ".wbk-trail button")).toEqual(["state[b=1, t=2]", "state[b=1, t=1]"]);
    await shown.press(byText(shown.host, ".wbk-trail button", "state[b=1, t=2]"));
    expect(shown.store.values().selection.instance).toEqual({ b: 1, t: 1 });
    expect(shown.host.querySelector(".wbk-trail")).toBeNull();
  });

  test("an instance that is picked stays so in another pane, and its value is followed among the details", async () => {
    const capsule = withSizes();
    shown = await drawn(Details, capsule);
    await act(async () => shown.store.select({ statements: ["state[t+1]"] }));
    await shown.press(byText(shown.host, "button", "Pick an instance"));
    expect(shown.store.values().selection.pane).toBe("domain");
    await act(async () => shown.store.select({ instance: { b: 1, t: 1 } }));
    await act(async () => undefined);
    expect(shown.host.querySelector(".wbk-value-of")?.textContent).toContain("state[b=1, t=2] = ");
    await shown.press(byText(shown.host, ".wbk-inputs button", "state[b=1, t=1]"));
    expect(shown.store.values().selection).toMatchObject({ statements: ["state[t+1]"], instance: { b: 1, t: 0 } });
    expect(shown.host.querySelector(".wbk-value-of")?.textContent).toContain("state[b=1, t=1] = ");
    await shown.press(byText(shown.host, ".wbk-trail button", "state[b=1, t=2]"));
    expect(shown.store.values().selection.instance).toEqual({ b: 1, t: 1 });
    await act(async () => shown.store.select({ instance: { b: 99, t: 1 } }));
    expect(shown.host.textContent).toContain("is not there at small sizes");
    await shown.takeDown();
    shown = await drawn(Domain, capsule);
    await act(async () => shown.store.select({ statements: ["state[t+1]"], instance: { b: 1, t: 1 } }));
    await act(async () => undefined);
    expect(shown.host.querySelector(".wbk-value-of")?.textContent).toContain("state[b=1, t=2] = ");
  });

  test("what is not finite is marked and leads to where it began", async () => {
    const value = parts<ValueView>("value").find((one) => one.of.not_finite) as ValueView;
    expect(value.cause.length).toBeGreaterThan(1);
    const start = value.cause.at(-1);
    const { Value } = await import("../../../src/views/instances/value");
    const followed: string[] = [];
    const element = { ...value.of, text: "wrong[b=0, t=4]" };
    const View = (): JSX.Element => (
      <Value trail={[element]} sizes={{ B: 2, T: 4 }} follow={(one) => followed.push(`${one.array} ${one.coordinates["t"]}`)} back={() => undefined} />
    );
    shown = await drawn(View, CAPSULE);
    expect(texts(shown.host, ".wbk-not-finite-badge").length).toBeGreaterThan(0);
    await shown.press(shown.host.querySelector(".wbk-cause button"));
    expect(followed).toEqual([`${start?.array} ${start?.coordinates["t"]}`]);
  });

  test("rows that were drawn are said to be", async () => {
    const note = "the rows of log are drawn within their bounds: no data was given";
    const noted = (one: ValueView): ValueView => ({ ...one, note });
    const told: Capsule = {
      ...CAPSULE,
      parts: CAPSULE.parts.map((one) => (one.part === "value" ? { ...one, value: noted(one.value as ValueView) } : one)),
    };
    const value = parts<ValueView>("value")[0] as ValueView;
    const { Value } = await import("../../../src/views/instances/value");
    const element = { ...value.of, text: "" };
    for (const capsule of [CAPSULE, told]) {
      const View = (): JSX.Element => <Value trail={[element]} sizes={value.sizes} follow={() => undefined} back={() => undefined} />;
      shown = await drawn(View, capsule);
      const said = texts(shown.host, ".wbk-value .wbk-hint").join(" ");
      expect(said).toContain("By the reference, at ");
      expect(said.endsWith(`float64. T${note.slice(1)}.`)).toBe(capsule === told);
      await shown.takeDown();
    }
  });

  test("sizes are asked for as they are set; until they come the old picture stays", async () => {
    await fixed("state[t+1]");
    expect(shown.host.textContent).toContain("What was saved does not hold the instances at these sizes");
    expect(shown.host.querySelector("svg")).not.toBeNull();
  });

  /** What the picture asks for without sizes, at those of the stored values. */
  function withSizes(): Capsule {
    const small = CAPSULE.parts.filter((one) => one.part === "domain" && "B" in (one.arguments["sizes"] as object));
    return { ...CAPSULE, parts: [...CAPSULE.parts, ...small.map((one) => ({ ...one, arguments: { ...one.arguments, sizes: {} } }))] };
  }
});
