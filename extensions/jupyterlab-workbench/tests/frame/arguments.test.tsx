import { afterEach, expect, test } from "vitest";
import { Arguments, valueOf } from "../../src/frame/arguments";
import type { ArgumentView } from "../../src/protocol";
import { type Drawn, drawn, enter, fire, GOLDEN, texts } from "../drawing";

const of = (name: string, kind: ArgumentView["kind"], value: unknown, choices: readonly unknown[] = []): ArgumentView => ({
  name, kind, value, default: value, choices,
});
const GIVEN = [
  of("B", "size", 16),
  of("gamma", "number", 0.99),
  of("activation", "text", "tanh", ["tanh", "relu"]),
  of("normalize", "boolean", true),
  of("hidden", "other", [64, 64]),
  of("scale", "other", "<function scale>"),
];

let shown: Drawn;
afterEach(() => shown?.takeDown());

const watched = async (live = true): Promise<void> => {
  shown = await drawn(Arguments, { ...GOLDEN, state: { ...GOLDEN.state, arguments: GIVEN } }, live);
};
const control = (name: string): HTMLElement => {
  const field = [...shown.host.querySelectorAll(".wbk-field")].find((one) => one.querySelector("span")?.textContent === name);
  return field?.lastElementChild as HTMLElement;
};

test("every argument of a watched template has a control, choices a list of them", async () => {
  await watched();
  expect(texts(shown.host, ".wbk-field > span")).toEqual(GIVEN.map(({ name }) => name));
  expect(texts(control("activation"), "option")).toEqual(["tanh", "relu"]);
  expect(control("scale").tagName).toBe("CODE");
  await enter(control("activation"), "1");
  await shown.press(control("normalize"));
  await enter(control("B"), "32");
  expect(shown.sent.length).toBe(2); // not before it is left
  await fire(control("B"), new FocusEvent("focusout", { bubbles: true }));
  expect(shown.sent).toMatchObject([
    { type: "change", arguments: { activation: "relu" } },
    { type: "change", arguments: { normalize: false } },
    { type: "change", arguments: { B: 32 } },
  ]);
});

test("what is no value of its kind asks for nothing, stays and is said to be none", async () => {
  await watched();
  const field = control("B") as HTMLInputElement;
  for (const [typed, said] of [["many", "B is many"], ["0", "B is 0"], ["", "B is empty"]] as const) {
    await enter(field, typed);
    await fire(field, new FocusEvent("focusout", { bubbles: true }));
    expect(texts(shown.host, ".wbk-field-error")).toEqual([`${said}; expected a whole number of at least 1`]);
    expect(field.value).toBe(typed);
  }
  expect(shown.sent).toEqual([]);
  await fire(field, new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  expect(field.value).toBe("16");
  expect(texts(shown.host, ".wbk-field-error")).toEqual([]);
});

test("without Python, or where nothing is watched, there are none", async () => {
  await watched(false);
  expect(shown.host.textContent).toBe("");
});

test("texts are read by the kind of their argument", () => {
  const [size, number, text, , list] = GIVEN as [ArgumentView, ArgumentView, ArgumentView, ArgumentView, ArgumentView];
  expect(["8", "0", "2.5", "x", "[1]"].map((one) => valueOf(size, one))).toEqual([8, undefined, undefined, undefined, undefined]);
  expect(["1e-3", "-2", "true"].map((one) => valueOf(number, one))).toEqual([0.001, -2, undefined]);
  expect(valueOf(text, "any thing")).toBe("any thing");
  expect(["(32, 32)", "[32]", "(8,)", "32", "("].map((one) => valueOf(list, one))).toEqual([[32, 32], [32], [8], undefined, undefined]);
});
