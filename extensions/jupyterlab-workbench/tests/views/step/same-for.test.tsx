import { afterEach, describe, expect, test } from "vitest";
import golden from "../../../../../tests/golden/session/steps.json";
import type { Capsule, MovesView, PreviewView, Snapshot } from "../../../src/protocol";
import { Moves } from "../../../src/views/moves/moves";
import { sameFor } from "../../../src/views/step/same-for";
import { openStep } from "../../../src/views/step/steps";
import { act, byText, type Drawn, drawn, texts } from "../../drawing";

const CAPSULE = golden as unknown as Capsule;
const parts = <T,>(part: string): readonly T[] => CAPSULE.parts.flatMap((one) => (one.part === part ? [one.value as T] : []));
const [snapshot] = parts<Snapshot>("snapshot") as [Snapshot];
const [{ transforms }] = parts<MovesView>("moves") as [MovesView];
const stepOf = (text: string) => parts<PreviewView>("preview").find((one) => one.step.text === text)?.step;
const [STATE, TO_GO] = ["Vectorize('t', statements=('state[t+1]',))", "Vectorize('t', statements=('to_go',))"];
const node = (id: string) => snapshot.nodes.find((one) => one.id === id) as Snapshot["nodes"][0];
const transform = (name: string) => transforms.find((one) => one.name === name) as MovesView["transforms"][0];

let shown: Drawn;
afterEach(() => shown?.takeDown());

const open = async (text: string, live = false): Promise<void> => {
  shown = await drawn(Moves, CAPSULE, live);
  await act(async () => openStep(shown.store, stepOf(text)?.json ?? null));
};
const select = (id: string): Promise<void> => act(async () => shown.store.select({ statements: [id] }));

describe("the same step for another statement", () => {
  test("is offered when that is selected, and both answers stand together", async () => {
    await open(STATE);
    expect(shown.host.querySelector(".wbk-meanwhile")).toBeNull();
    await select("to_go");
    await shown.press(byText(shown.host, "button", "Vectorize t of to_go"));
    expect(texts(shown.host, "h3")).toEqual([TO_GO]);
    expect(shown.host.querySelector(".wbk-meanwhile")).toBeNull();
    const refusal = parts<PreviewView>("preview").find((one) => one.step.text === STATE)?.refusal;
    expect(texts(shown.host, ".wbk-contrast")).toEqual([`${STATE} is refused: ${refusal?.sentence.replace(`${STATE}: `, "")}`]);
    await shown.press(shown.host.querySelector(".wbk-contrast button"));
    expect(texts(shown.host, "h3")).toEqual([STATE]);
    expect(shown.host.querySelector(".wbk-contrast")).toBeNull();
  });

  test("is told to be legal with its reason where it was", async () => {
    await open(TO_GO);
    await select("state[t+1]");
    await shown.press(byText(shown.host, "button", "Vectorize t of state[t+1]"));
    expect(texts(shown.host, ".wbk-contrast")[0]).toMatch(/is legal: no to_go reads another along t/);
  });

  test("the moves of what is selected are one press away", async () => {
    await open(STATE);
    await select("to_go");
    await shown.press(byText(shown.host, "button", "Show its moves"));
    expect(shown.store.values().selection.move).toBeNull();
    expect(shown.host.querySelector(".wbk-moves")).not.toBeNull();
  });

  test("takes the place of the one name that a step has", () => {
    const vectorize = stepOf("Vectorize('b')")?.json ?? {};
    expect(sameFor(vectorize, transform("Vectorize"), node("to_go"))).toMatchObject({ arguments: { dim: "b", statements: ["to_go"] } });
    const contract = stepOf("Contract('reward', 't')")?.json ?? {};
    expect(sameFor(contract, transform("Contract"), node("state[t+1]"))).toMatchObject({ arguments: { array: "state", dim: "t" } });
    const fuse = stepOf("Fuse(('state[t+1]', 'to_go'))")?.json;
    expect(fuse && sameFor(fuse, transform("Fuse"), node("reward"))).toBeUndefined();
  });
});

test("an estimate leads to a measurement of both variants", async () => {
  await open("Vectorize('b')", true);
  await shown.press(byText(shown.host, "button", "Apply it and open Compare"));
  const variant = CAPSULE.state.current;
  expect(shown.sent).toMatchObject([{ type: "apply", variant, step: stepOf("Vectorize('b')")?.json }]);
  await shown.answer((id) => ({ type: "done", id, variant: "other" }));
  expect(shown.store.values().selection).toMatchObject({ move: null, pane: "compare", compared: [variant, "other"] });
});
