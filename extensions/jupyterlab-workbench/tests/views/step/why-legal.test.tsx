import { afterEach, describe, expect, test } from "vitest";
import golden from "../../../../../tests/golden/session/steps.json";
import type { Capsule, ReasonView } from "../../../src/protocol";
import { Moves } from "../../../src/views/moves/moves";
import { act, type Drawn, drawn, enter, texts } from "../../drawing";

const CAPSULE = golden as unknown as Capsule;
const reasons = CAPSULE.parts.filter((one) => one.part === "reason").map((one) => one.value as ReasonView);

let shown: Drawn;
afterEach(() => shown?.takeDown());

async function open(step: string): Promise<ReasonView> {
  const reason = reasons.find((one) => one.step.text === step) as ReasonView;
  shown = await drawn(Moves, CAPSULE);
  await act(async () => shown.store.select({ move: JSON.stringify(reason.step.json) }));
  return reason;
}

describe("why a step is legal", () => {
  test("is said in a sentence, and drawn: equal numbers are one array operation", async () => {
    const reason = await open("Vectorize('t', statements=('to_go',))");
    const section = shown.host.querySelector("section[aria-label='Why it is legal']");
    expect(section?.querySelector(".wbk-sentence")?.textContent).toBe(reason.sentence);
    expect(shown.host.querySelectorAll(".wbk-broken.wbk-arrow")).toHaveLength(0);
    const place = reason.space?.statements.find((one) => one.statement === "to_go")?.order ?? [];
    expect(place.length).toBeGreaterThan(1);
    expect(new Set(place).size).toBe(1);
    expect(section?.textContent).toContain("equal ones run as one array operation");
  });

  test("lists all pairs with what orders each", async () => {
    const reason = await open("Vectorize('b')");
    const pairs = texts(shown.host, ".wbk-why li");
    expect(pairs).toHaveLength(reason.dependences.length);
    for (const [place, { by }] of reason.dependences.entries()) {
      expect(pairs[place]).toContain(by.length ? by.join(", ") : "no pair");
    }
  });

  test("of equations names the conditions, what meets each, and the equations before and after", async () => {
    const reason = await open("Incrementalize('to_go', 't')");
    expect(texts(shown.host, ".wbk-conditions dd")).toEqual(reason.conditions.map((one) => one.met));
    const lines = shown.host.querySelector(".wbk-why pre")?.textContent?.split("\n") ?? [];
    expect(lines.filter((line) => line.startsWith("- "))).toHaveLength(reason.before.length);
    expect(lines.filter((line) => line.startsWith("+ "))).toHaveLength(reason.after.length);
  });

  test("sizes of the picture can be set; until the new one comes the old one stays", async () => {
    await open("Vectorize('b')");
    const sizes = [...shown.host.querySelectorAll<HTMLInputElement>(".wbk-why .wbk-one-size input")];
    expect(sizes.length).toBeGreaterThan(0);
    await enter(sizes[0], "5");
    expect(shown.host.querySelector(".wbk-why svg")).not.toBeNull();
  });
});
