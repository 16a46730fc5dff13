import { afterEach, beforeEach, describe, expect, test } from "vitest";
import golden from "../../../../../tests/golden/session/steps.json";
import type { Capsule, MovesView, PreviewView, Request, TransformView } from "../../../src/protocol";
import { Moves } from "../../../src/views/moves/moves";
import "../../../src/views/step/step-form"; // what is loaded when it is needed is there at once
import { fieldsOf, startOf, stepFrom } from "../../../src/views/step/step-schema";
import { act, byText, type Drawn, drawn, enter, fire, texts } from "../../drawing";

const CAPSULE = golden as unknown as Capsule;
const whole = CAPSULE.parts.find((one) => one.part === "moves")?.value as MovesView;
const transform = (name: string): TransformView => whole.transforms.find((one) => one.name === name) as TransformView;
const unfit = (text: string): PreviewView =>
  CAPSULE.parts.find((one) => one.part === "preview" && (one.value as PreviewView).step.text === text)
    ?.value as PreviewView;

describe("the schema", () => {
  test.each(whole.transforms.map((one) => one.name))("has a field for every argument of %s", (name) => {
    const fields = fieldsOf(transform(name));
    const properties = transform(name).schema["properties"] as Record<string, { names?: string; enum?: unknown }>;
    expect(fields.map(({ argument }) => argument)).toEqual(Object.keys(properties));
    for (const { argument, kind, known, choices } of fields) {
      const { names, enum: values } = properties[argument]!;
      if (names) expect(whole.names[known]?.length).toBeGreaterThan(0);
      else expect(kind).toBe(values ? "choice" : "number");
      expect(choices).toEqual(values ?? []);
    }
  });

  test.each(whole.moves.map((move) => [move.step.text, move.step.json] as const))("gives %s back", (_, json) => {
    const kind = transform(String(json["transform"]));
    expect(stepFrom(kind, startOf(kind, json, []))).toEqual(json);
  });

  test("leaves out what is required and empty, for Python to say so of each", () => {
    expect(stepFrom(transform("Place"), { statements: [], dim: "" })).toEqual({ transform: "Place", arguments: {} });
    expect(stepFrom(transform("Fuse"), { statements: [], shifts: [] })).toEqual({
      transform: "Fuse",
      arguments: { shifts: [] },
    });
  });

  test("leaves what is no number as it was typed, for Python to refuse", () => {
    const size = (typed: string): unknown =>
      (stepFrom(transform("Tile"), { dim: "b", size: typed }).arguments as Record<string, unknown>)["size"];
    expect(["4", " 4 ", "-1", "1.5", "many", "0x4", ""].map(size)).toEqual([4, 4, -1, 1.5, "many", "0x4", undefined]);
    expect(stepFrom(transform("Fuse"), { statements: ["g"], shifts: [["g", "2"], ["", ""]] })).toEqual({
      transform: "Fuse",
      arguments: { statements: ["g"], shifts: [["g", 2], ["", ""]] },
    });
  });
});

const LACKING = { dim: "Tile lacks its argument dim", size: "Tile lacks its argument size" };

describe("the form", () => {
  let shown: Drawn;
  afterEach(() => shown.takeDown());

  const form = async (kind: string): Promise<void> => {
    await shown.press(byText(shown.host, "button", "New step"));
    await act(async () => new Promise((later) => setTimeout(later, 0)));
    await enter(shown.host.querySelector(".wbk-step-kind select"), kind);
  };
  const submit = (): Promise<void> =>
    fire(shown.host.querySelector("form"), new Event("submit", { bubbles: true, cancelable: true }));
  const field = (label: string): HTMLElement => {
    const labels = [...shown.host.querySelectorAll(".wbk-step-field label")];
    const named = labels.find((one) => one.firstChild?.textContent === label);
    return named?.parentElement?.querySelector("input, select") as HTMLElement;
  };
  const said = (): readonly string[] => texts(shown.host, ".wbk-field-error");
  const previews = (): readonly Extract<Request, { type: "want" }>[] =>
    shown.parts.flatMap((one) => (one.type === "want" && one.part === "preview" ? [one] : []));
  const opened = (): unknown => JSON.parse(shown.store.values().selection.move ?? "null");
  /** Python's answer to JSON that is no step. */
  const refuse = async (sentence: string, wrong: Readonly<Record<string, string>>): Promise<void> => {
    const error = { sentence, line: null, trace: "", cycle: null, arguments: wrong };
    await shown.hear({ type: "failed", id: previews().at(-1)?.id ?? 0, error });
  };

  beforeEach(async () => {
    shown = await drawn(Moves, CAPSULE, true);
  });

  test("takes what is selected where that is asked for, and opens the step that it describes", async () => {
    await act(async () => shown.store.select({ statements: ["state[t+1]"] }));
    await form("Vectorize");
    expect(texts(shown.host, ".wbk-chip")).toEqual([]); // of Vectorize statements may be left out
    await shown.press(byText(shown.host, ".wbk-form button", "add the 1 selected"));
    expect(texts(shown.host, ".wbk-chip")).toEqual(["state[t+1]×"]);
    await enter(shown.host.querySelector(".wbk-name-choice"), "t");
    await submit();
    expect(opened()).toEqual({ transform: "Vectorize", arguments: { dim: "t", statements: ["state[t+1]"] } });
    expect(shown.host.textContent).toContain("A dependence would be violated");
    expect(previews()).toHaveLength(1); // of the same step Python is not asked again
  });

  test("waits for the kind that it begins with, and shows no other in its place", async () => {
    await shown.takeDown();
    shown = await drawn(Moves, { ...CAPSULE, parts: CAPSULE.parts.filter(({ part }) => part !== "moves") }, true);
    const wanted = shown.parts.find((one) => one.type === "want" && one.part === "moves");
    const id = wanted && "id" in wanted ? wanted.id : 0;
    const come = (names: readonly string[], done: boolean): Promise<void> => {
      const transforms = whole.transforms.filter(({ name }) => names.includes(name) !== done);
      return shown.hear({ type: "part", id, value: { ...whole, transforms, moves: [] }, done });
    };
    await come(["Contract"], false);
    await shown.press(byText(shown.host, "button", "New step"));
    await act(async () => new Promise((later) => setTimeout(later, 0)));
    expect(shown.host.querySelector(".wbk-step-kind")).toBeNull();
    expect(shown.host.textContent).toContain("Loading what Vectorize takes");
    expect(byText(shown.host, "button", "← Back")).toBeDefined();
    await come(["Contract"], true);
    expect(shown.host.querySelector<HTMLSelectElement>(".wbk-step-kind select")?.value).toBe("Vectorize");
  });

  test("starts with what is selected where a step is of nothing else", async () => {
    await act(async () => shown.store.select({ statements: ["state[t+1]"] }));
    await form("Distribute");
    expect(texts(shown.host, ".wbk-chip")).toEqual(["state[t+1]×"]);
  });

  test("offers every name that Python knows: dims of blocks", async () => {
    await shown.takeDown();
    const parts = CAPSULE.parts.map((one) =>
      one.value === whole ? { ...one, value: { ...whole, names: { ...whole.names, dim: ["b", "t_block32"] } } } : one,
    );
    shown = await drawn(Moves, { ...CAPSULE, parts }, true);
    await form("Vectorize");
    expect(texts(field("dim"), "option")).toEqual(["choose …", "b", "t_block32"]);
    const taken = (label: string): unknown => (field(label) as HTMLInputElement).list?.options.length;
    expect(taken("statements")).toBe(whole.names["statement"]?.length);
  });

  test("starts with the defaults, and leaves out what is cleared", async () => {
    await form("Place");
    expect(field("at")).toHaveProperty("value", "last");
    expect(texts(field("at"), "option")).toEqual(["first", "last"]);
    await enter(shown.host.querySelector(".wbk-step-kind select"), "Swap");
    expect(field("prefetch")).toHaveProperty("value", "0");
    await enter(field("array"), "reward");
    await enter(field("prefetch"), "");
    await submit();
    expect(previews().at(-1)?.arguments["step"]).toEqual({ transform: "Swap", arguments: { array: "reward" } });
  });

  test("a name may begin with another: it ends with Enter, which does not end the form, or is chosen", async () => {
    await form("Fuse");
    const place = (): HTMLInputElement => shown.host.querySelector(".wbk-names input") as HTMLInputElement;
    const typed = async (text: string, inputType: string): Promise<void> => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(place(), text);
      await fire(place(), new InputEvent("input", { bubbles: true, inputType }));
    };
    const ended = async (): Promise<boolean> => {
      const end = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true });
      await fire(place(), end);
      return end.defaultPrevented;
    };
    await typed("to_go", "insertText");
    expect(texts(shown.host, ".wbk-chip")).toEqual([]);
    await typed("to_go_sum", "insertText");
    expect(await ended()).toBe(true);
    expect(texts(shown.host, ".wbk-chip")).toEqual(["to_go_sum×"]);
    expect(await ended()).toBe(true);
    await typed("to_go", "insertReplacementText");
    expect(texts(shown.host, ".wbk-chip")).toEqual(["to_go_sum×", "to_go×"]);
  });

  test("says at each field which argument Python finds lacking, and goes to the first", async () => {
    await form("Tile");
    await submit();
    expect(texts(shown.host, ".wbk-form .wbk-waiting")).toEqual(["Loading the preview …"]);
    await refuse("Tile lacks its argument dim, size", LACKING);
    expect(said()).toEqual(["Tile lacks its argument dim", "Tile lacks its argument size"]);
    expect([field("dim"), field("size")].map((one) => one.getAttribute("aria-invalid"))).toEqual(["true", "true"]);
    expect(shown.host.querySelector(".wbk-form .wbk-waiting")).toBeNull();
    expect(document.activeElement).toBe(field("dim"));
    expect(opened()).toBeNull();
  });

  test("keeps what is no number, with what Python says of it", async () => {
    await form("Tile");
    await enter(field("dim"), "b");
    await enter(field("size"), "many");
    await submit();
    await refuse("…", { size: "Tile: size is 'many'; expected a whole number" });
    expect(said()).toEqual(["size is 'many'; expected a whole number"]);
    expect(field("size")).toHaveProperty("value", "many");
    expect(field("size").getAttribute("aria-invalid")).toBe("true");
    expect(document.getElementById(field("size").getAttribute("aria-describedby") ?? "")?.textContent).toBe(said()[0]);
    await enter(field("size"), "0");
    expect(said()).toEqual([]); // it was about another step
    await submit();
    expect(said()).toEqual(["size is a whole number from 1 on, not 0"]);
    expect(document.activeElement).toBe(field("size"));
    field("dim").focus();
    await submit();
    expect(document.activeElement).toBe(field("size"));
    expect(opened()).toBeNull();
  });

  test("says of a name that Python does not know which there are, among others too", async () => {
    await form("Contract");
    await enter(field("array"), "rewrd");
    await submit();
    expect(said()).toEqual([unfit("Contract('rewrd')").refusal?.sentence.replace("Contract('rewrd'): ", "")]);
    expect(said()[0]).toMatch(/^unknown array rewrd: did you mean reward\?/);
    await enter(shown.host.querySelector(".wbk-step-kind select"), "Fuse");
    for (const name of ["to_go", "x"]) {
      await enter(field("statements"), name);
      await fire(field("statements"), new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    }
    await submit();
    expect(said()).toEqual([expect.stringMatching(/^unknown statement x: the statements are /)]);
    expect(document.activeElement).toBe(field("statements"));
  });

  test("marks names with numbers each where Python refuses them", async () => {
    await form("Fuse");
    const pairs = shown.host.querySelector(".wbk-pairs");
    expect(document.getElementById(pairs?.getAttribute("aria-labelledby") ?? "")?.textContent).toBe("shifts (has a default)");
    await shown.press(byText(shown.host, ".wbk-pairs button", "add one"));
    const [name, number] = [...shown.host.querySelectorAll<HTMLInputElement>(".wbk-pair input")];
    expect(number?.value).toBe("1");
    await enter(name, "to_go");
    await enter(number, "one");
    await submit();
    expect(previews().at(-1)?.arguments["step"]).toMatchObject({ arguments: { shifts: [["to_go", "one"]] } });
    await refuse("…", { shifts: "Fuse: shifts is [['to_go', 'one']]; expected pairs of a name and a whole number" });
    expect(said()).toEqual(["shifts is [['to_go', 'one']]; expected pairs of a name and a whole number"]);
    expect(document.activeElement).toBe(name);
  });

  test("says under the form what is about no argument", async () => {
    await form("Tile");
    await submit();
    await refuse("the Jupyter kernel's worker ended", {});
    expect(texts(shown.host, ".wbk-form > [role=alert]")).toEqual(["the Jupyter kernel's worker ended"]);
    expect(opened()).toBeNull();
  });

  test("calls back what it asked for where the step is changed meanwhile", async () => {
    await form("Tile");
    await submit();
    await enter(field("dim"), "b");
    expect(shown.parts.at(-1)).toEqual({ type: "forget", id: previews().at(-1)?.id });
    expect(shown.host.querySelector(".wbk-form .wbk-waiting")).toBeNull();
    await refuse("Tile lacks its argument dim, size", LACKING);
    expect(said()).toEqual([]);
  });

  test("is left with Escape", async () => {
    await form("Tile");
    await fire(field("size"), new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    expect(shown.host.querySelector(".wbk-step-form")).toBeNull();
    expect(texts(shown.host, ".wbk-move")).toHaveLength(whole.moves.length);
  });

  test("opens the step where nobody can be asked", async () => {
    await shown.takeDown();
    shown = await drawn(Moves, CAPSULE);
    await form("Tile");
    await submit();
    expect(opened()).toEqual({ transform: "Tile", arguments: { statements: null } });
    expect(shown.host.textContent).toContain("What was saved does not hold the preview");
  });
});
