import { inRoom } from "../../../src/views/profile/text";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { CourseView, ProfileView, State } from "../../../src/protocol";
import { secondsText } from "../../../src/model/numbers";
import { spanText } from "../../../src/views/profile/course";
import { levelsOf, moved, spansOf, timesIn, wholeSight, zoomed } from "../../../src/views/profile/lanes";
import { Profile } from "../../../src/views/profile/profile";
import { Ways } from "../../../src/views/profile/ways";
import { byText, type Drawn, drawn, GOLDEN, texts } from "../../drawing";

const { state } = GOLDEN;
const native = state.profiles[2] as ProfileView;
const course = native.course as CourseView;
const [loop, kernel] = course.lanes;
if (!loop || !kernel) throw new Error("the golden profile has lanes");

let shown: Drawn | undefined;
afterEach(async () => {
  await shown?.takeDown();
  shown = undefined;
  vi.restoreAllMocks();
});

async function pane(more: Partial<State> = {}): Promise<Drawn> {
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
  shown = await drawn(Profile, { ...GOLDEN, state: { ...state, current: native.variant, ...more } }, true);
  return shown;
}

describe("the course", () => {
  test("has a lane for each loop and each kernel, and the memory below them", async () => {
    const { host } = await pane();
    expect(texts(host, ".wbk-lane .wbk-lane-name").map((text) => text.replace(/.*shown/, ""))).toEqual([
      "for tfor t", "kernel_g", "kernel_to_go",
    ]);
    const [seconds, run] = [course.seconds, native.untimed_seconds].map(secondsText);
    expect(texts(host, ".wbk-course-head .wbk-note")).toEqual([`${seconds} as recorded; the run takes ${run}`]);
    expect(texts(host, ".wbk-course-memory .wbk-lane-name")).toEqual(["memory held", "at most 900 B"]);
    expect(host.querySelectorAll(".wbk-outline").length).toBeGreaterThan(0);
    expect(host.querySelector(".wbk-total")?.textContent).toContain("stopped after 2 of 5 rounds");
  });

  test("leads from what ran to its statements, its kernel's text and the loops", async () => {
    const { host, press, store } = await pane();
    await press(host.querySelectorAll(".wbk-lane")[1]?.querySelector(".wbk-span"));
    expect(store.values().selection).toMatchObject({ statements: ["g", "reward"], kernel: "kernel_g" });
    expect(host.querySelectorAll(".wbk-lane-picked")).toHaveLength(1);
    expect(host.querySelector(".wbk-ways b")?.textContent).toBe("g");
    await press(byText(host, ".wbk-ways button", "kernel text"));
    expect(store.values().selection).toMatchObject({ pane: "code", level: "c", kernel: "kernel_g" });
    await press(byText(host, ".wbk-ways button", "in the loops"));
    expect(store.values().selection).toMatchObject({ pane: "code", level: "loops" });
  });

  test("comes closer about its middle, and goes back", async () => {
    const { host, press } = await pane();
    const first = (): string | null => host.querySelectorAll(".wbk-lane")[0]?.querySelector(".wbk-span")?.getAttribute("x") ?? null;
    const before = first();
    await press(host.querySelector("[aria-label='Closer']"));
    expect(first()).not.toBe(before);
    await press(host.querySelector("[aria-label='All of it']"));
    expect(first()).toBe(before);
  });

  test("is missing where nothing was launched", async () => {
    const { host } = await pane({ profiles: [{ ...native, course: null }] });
    expect(host.querySelector(".wbk-course")).toBeNull();
  });
});

test("ways lead nowhere from what computes no statement", async () => {
  shown = await drawn(() => <Ways lane={{ ...kernel, statements: [] }} backend="native" />);
  expect(shown.host.textContent).toBe("");
});

test("spans are told in words", () => {
  const [iteration] = spansOf(loop);
  const [launch] = spansOf(kernel);
  if (!iteration || !launch) throw new Error("there are spans");
  expect(spanText({ lane: loop, span: iteration }, course)).toMatch(/^iteration 0 of t, at 0 s: 2 ms/);
  expect(spanText({ lane: kernel, span: launch }, course)).toMatch(/^kernel_g, at 0 s: 1 ms/);
  expect(spanText({ lane: kernel, span: { ...launch, count: 7, busy: 0.5, predicted: null } }, course)).toBe(
    "kernel_g, at 0 s: 7 launches in 1 ms, 50 % of it",
  );
});

test("levels of memory last until the next one", () => {
  const levels = levelsOf({ ...course, held: [0, 100, 30, 700] });
  expect(levels).toEqual([
    { begin: 0, bytes: 100, end: 30 },
    { begin: 30, bytes: 700, end: wholeSight(course).to },
  ]);
});

test("what is in sight stays within the run", () => {
  const whole = { from: 0, to: 1000 };
  expect(zoomed(whole, 0.5, 500, whole)).toEqual({ from: 250, to: 750 });
  expect(zoomed({ from: 0, to: 100 }, 100, 50, whole)).toEqual(whole);
  expect(zoomed({ from: 0, to: 30 }, 0.1, 0, whole)).toEqual({ from: 0, to: 20 });
  expect(moved({ from: 900, to: 1000 }, 50, whole)).toEqual({ from: 900, to: 1000 });
  expect(timesIn({ from: 0, to: 1000 }, 0.001, 4)).toEqual([0, 0.5, 1]);
});

test("names of kernels that differ at their begin do so when they are cut", () => {
  const names = ["actor", "critic"].map((of) => `kernel_gradient_${of}_bias_2_product_and_3_more`);
  expect(names.map((name) => inRoom(name, 26))).toEqual(["gradient_acto…2_product +3", "gradient_crit…2_product +3"]);
  expect([inRoom("kernel_state", 12), inRoom("kernel_state", 8), inRoom("for t", 4)]).toEqual(["kernel_state", "state", "fo…t"]);
});
