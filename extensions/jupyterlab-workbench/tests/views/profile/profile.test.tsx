import { afterEach, describe, expect, test } from "vitest";
import { profilesOf, shownProfile } from "../../../src/model/profiled";
import { secondsText } from "../../../src/model/numbers";
import type { ProfileView, State } from "../../../src/protocol";
import { colouring } from "../../../src/graph/drawing/overlay";
import { differenceText, Profile } from "../../../src/views/profile/profile";
import { decades, dotsOf, dotText, roofAt } from "../../../src/views/profile/roofline";
import { scene } from "../../graph/pictures";
import { act, byText, type Drawn, drawn, enter, GOLDEN, texts } from "../../drawing";
import graph from "../../../../../tests/golden/session/graph.json";
import type { Capsule } from "../../../src/protocol";

const { state } = GOLDEN;
const [numpy, shorter, native] = state.profiles as readonly [ProfileView, ProfileView, ProfileView];

let shown: Drawn;
afterEach(() => shown?.takeDown());

/** The pane of the variant of a profile. */
async function pane(of: ProfileView, live = false, more: Partial<State> = {}): Promise<void> {
  shown = await drawn(Profile, { ...GOLDEN, state: { ...state, current: of.variant, ...more } }, live);
}

const row = (name: string): HTMLElement =>
  [...shown.host.querySelectorAll<HTMLElement>(".wbk-profile-rows tbody tr")].find((one) =>
    one.querySelector(".wbk-link")?.textContent?.startsWith(name),
  ) as HTMLElement;

const cells = (name: string): readonly string[] => texts(row(name), "td").slice(1);

describe("the pane", () => {
  test("shows the scopes, the longest first, with shares and what they were predicted to take", async () => {
    await pane(numpy);
    expect(texts(shown.host, ".wbk-scope-bars .wbk-link")).toEqual(["learning", "acting", "(Python between)"]);
    expect(texts(shown.host, ".wbk-scope-share")).toEqual(["50 %", "40 %", "10 %"]);
    const [first] = shown.host.querySelectorAll<HTMLElement>(".wbk-scope-track");
    expect(first?.querySelector<HTMLElement>(".wbk-measured")?.style.width).toBe("100%");
    expect(first?.querySelector<HTMLElement>(".wbk-mark")?.style.left).toBe("50%");
    expect(shown.host.querySelector(".wbk-total")?.textContent).toBe("10 ms at B=3, T=7, predicted 5 ms");
  });

  test("says what was run, and how the parts add up", async () => {
    await pane(native);
    const told = texts(shown.host, ".wbk-note").join("\n");
    expect(told).toContain("native, 2 threads, float32, seed 0; ");
    expect(shown.host.querySelector(".wbk-total")?.textContent).toContain(" at B=3, T=7");
    for (const line of native.summary) expect(told).toContain(line);
    expect(texts(shown.host, "summary")).toEqual(native.summary.slice(0, 1));
  });

  test("without a profile says what one tells, and leads to the variants that have one", async () => {
    const [, , , branch] = state.variants;
    await pane({ ...numpy, variant: branch?.key ?? "" }, true);
    expect(shown.host.querySelector(".wbk-nothing")?.textContent).toMatch(/^This variant is not profiled yet\./);
    expect(texts(shown.host, ".wbk-profiled .wbk-link")).toHaveLength(3);
    await shown.press(byText(shown.host, ".wbk-profiled .wbk-link", "as written"));
    expect(shown.sent.at(-1)).toMatchObject({ type: "show", variant: numpy.variant });
  });

  test("of a saved workbench profiles nothing, and says so", async () => {
    await pane(numpy);
    expect(byText(shown.host, "button", "Profile")).toBeUndefined();
    expect(shown.host.textContent).toContain("Saved results. Run the notebook to profile more.");
  });
});

describe("rows", () => {
  test("are of statements at first, then of what is chosen", async () => {
    await pane(native);
    expect(row("to_go")).toBeDefined();
    await shown.press(byText(shown.host, ".wbk-segments button", "kernel"));
    expect(texts(shown.host, ".wbk-profile-name .wbk-link")).toEqual(native.kernels.map(({ name }) => name));
    await shown.press(byText(shown.host, ".wbk-segments button", "scope"));
    expect(cells("learning")[0]).toContain(secondsText(native.scopes[0]?.seconds ?? 0));
  });

  test("are of kernels only where there are some", async () => {
    await pane(numpy);
    expect(byText(shown.host, ".wbk-segments button", "kernel")).toBeUndefined();
  });

  test("mark what was shared out, and what is uncertain", async () => {
    await pane(native);
    expect(cells("g")[0]).toMatch(/^≈ 3 ms/);
    expect(row("g").querySelector(".wbk-uncertain")?.textContent).toBe("uncertain");
    expect(cells("to_go")[0]).toMatch(/^2 ms/);
    expect(row("to_go").querySelector(".wbk-uncertain")).toBeNull();
  });

  test("have seconds, predicted ones, calls, operations and bytes, with shares of the peaks", async () => {
    await pane(native);
    expect(cells("to_go")).toEqual(["2 ms29 %", "1 ms", "8", "16 M40 %", "1 MB5.0 %"]);
  });

  test("select what they compute, and are marked where it is selected", async () => {
    await pane(native);
    await shown.press(byText(shown.host, ".wbk-segments button", "kernel"));
    await shown.press(row("kernel_g").querySelector(".wbk-link"));
    expect(shown.store.values().selection.statements).toEqual(["g", "reward"]);
    expect(row("kernel_g").className).toBe("wbk-picked");
    expect(row("kernel_to_go").className).toBe("");
  });

  test("of kernels lead to their text", async () => {
    await pane(native);
    expect(byText(shown.host, ".wbk-profile-rows button", "kernel text")).toBeUndefined();
    await shown.press(byText(shown.host, ".wbk-segments button", "kernel"));
    await shown.press(byText(row("kernel_g"), "button", "kernel text"));
    const wanted = { pane: "code", level: "c", kernel: "kernel_g", statements: ["g", "reward"] };
    expect(shown.store.values().selection).toMatchObject(wanted);
  });
});

describe("many rows", () => {
  const many = Array.from({ length: 30 }, (_, at) => ({
    ...(numpy.statements[0] as ProfileView["statements"][number]), name: `s${at}`, statements: [`s${at}`], seconds: 1e-3,
  }));

  test("are twenty at first, with those selected, and the others together", async () => {
    const long = { ...numpy, statements: many, seconds: 0.03 };
    await pane(long, false, { profiles: [long] });
    const names = (): readonly string[] => texts(shown.host, ".wbk-profile-rows .wbk-profile-name .wbk-link");
    expect(names()).toHaveLength(20);
    expect(byText(shown.host, "button", "10 more")?.textContent).toBe("10 more, together 10 ms, 33 %");
    await act(async () => shown.store.select({ statements: ["s27"] }));
    expect(names().slice(19)).toEqual(["s19", "s27"]);
    await shown.press(byText(shown.host, "button", "9 more"));
    expect(names()).toHaveLength(30);
  });
});

describe("another profile", () => {
  const against = (): HTMLSelectElement | null => shown.host.querySelector(".wbk-bar-end select");

  test("stands beside: differences of each row, and of the whole", async () => {
    await pane(numpy);
    await enter(against(), shorter.id);
    expect(cells("to_go")[2]).toBe("+4 ms");
    expect(cells("g")[2]).toBe("±0");
    const coloured = (name: string): string[] => texts(row(name), ".wbk-slower, .wbk-faster").slice();
    expect([coloured("to_go"), coloured("g")]).toEqual([["+4 ms"], []]);
    expect(shown.host.querySelector(".wbk-total")?.textContent).toContain("time × 1.67 against Vectorize('b')");
    expect(shown.host.querySelectorAll(".wbk-scope-track .wbk-before")).toHaveLength(3);
  });

  test("may have rows of its own", async () => {
    await pane(numpy);
    await enter(against(), native.id);
    expect(cells("reward")).toEqual(["–", "–", "−1 ms", "", "", ""]);
  });

  test("of another run is said to be one", () => {
    expect(differenceText(numpy, native, "that")).toBe("time × 1.43 against that, which ran on native, 2 threads");
    expect(differenceText(numpy, { ...numpy, sizes: { B: 4 }, dtype: "float64" }, "that")).toBe(
      "same time as that, which ran in float64, at B=4",
    );
  });
});

describe("profiling", () => {
  test("asks for the shown variant with the selected run", async () => {
    await pane(numpy, true);
    await act(async () => shown.store.select({ sizes: { T: 9 }, dtype: "float64" }));
    await shown.press(byText(shown.host, "button", "Profile"));
    expect(shown.sent.at(-1)).toMatchObject({
      type: "profile", variant: numpy.variant, backend: "numpy", sizes: { T: 9 }, dtype: "float64", seed: 0, force: false, here: false,
    });
  });

  test("says what is under way, and waits for it", async () => {
    const measuring = { what: "profile", stage: "profiling", done: 1, total: 5, group: "", variants: [numpy.variant] } as const;
    await pane(numpy, true, { measuring });
    expect(byText(shown.host, "button", "Profiling …")).toHaveProperty("disabled", true);
    expect(shown.host.textContent).toContain("Now: as written");
  });

  const refused = {
    variant: numpy.variant, backend: "native", dtype: "float32", sizes: { T: 4096 }, seed: 3, too_long: true, not_sent: false,
    error: { sentence: "not profiled, since a run would take about 90 s", line: null, trace: "", cycle: null, arguments: {} },
  };

  test("that would take too long says so, and is made all the same when told to", async () => {
    await pane(numpy, true, { unprofiled: refused });
    expect(shown.host.querySelector("[role=alert]")?.textContent).toContain("a run would take about 90 s");
    await shown.press(byText(shown.host, "button", "Profile all the same"));
    expect(shown.sent.at(-1)).toMatchObject({
      type: "profile", variant: numpy.variant, backend: "native", sizes: { T: 4096 }, seed: 3, force: true,
    });
  });

  test("that failed otherwise is not forced, and one of another variant not told of", async () => {
    await pane(numpy, true, { unprofiled: { ...refused, too_long: false } });
    expect(shown.host.querySelector("[role=alert]")?.textContent).toContain("a run would take about 90 s");
    expect(byText(shown.host, "button", "Profile all the same")).toBeUndefined();
    await shown.takeDown();
    await pane(shorter, true, { unprofiled: refused });
    expect(shown.host.querySelector("[role=alert]")).toBeNull();
  });
});

describe("the roofline", () => {
  test("has a dot for each kernel that computes, below the machine's roof", () => {
    const dots = dotsOf(native);
    expect(dots.map(({ row: { name } }) => name)).toEqual(["kernel_g", "kernel_to_go"]);
    const last = dots[1];
    expect([last?.intensity, last?.rate]).toEqual([16, 8e9]);
    const peaks = { flops_per_second: 2e10, nearest_bytes_per_second: 4e10, farthest_bytes_per_second: 1e10 };
    expect([roofAt(peaks, 1e10, 0.5), roofAt(peaks, 1e10, 2), roofAt(peaks, 4e10, 0.25)]).toEqual([5e9, 2e10, 1e10]);
    expect(last && dotText(last, native)).toBe(
      "kernel_to_go: 2 ms, 29 %; 8 GFLOP/s at 16 FLOP/byte, 40 % of the machine's 20 GFLOP/s",
    );
    expect(last && dotText({ ...last, intensity: 0.5, rate: 1e9 }, native)).toMatch(
      /20 % of what memory of 10 GB\/s allows$/,
    );
  });

  test("has statements where there are no kernels, and no roof where none is known", () => {
    const [dot] = dotsOf(numpy);
    expect(dot?.row.name).toBe("to_go");
    expect(dot && dotText(dot, numpy)).toMatch(/FLOP\/byte$/);
  });

  test("spans whole powers of ten", () => {
    expect(decades([0.02, 3])).toEqual([-2, 1]);
    expect(decades([100, 100])).toEqual([2, 3]);
  });
});

describe("which profile is shown", () => {
  test("is the chosen one of the variant, else its newest", () => {
    const twice = { profiles: [numpy, { ...numpy, id: "later" }, native] };
    expect(profilesOf(twice, numpy.variant).map(({ id }) => id)).toEqual(["later", numpy.id]);
    expect(shownProfile(twice, numpy.variant, "")?.id).toBe("later");
    expect(shownProfile(twice, numpy.variant, numpy.id)?.id).toBe(numpy.id);
    expect(shownProfile(twice, native.variant, numpy.id)?.id).toBe(native.id);
    expect(shownProfile(twice, "another", "")).toBeUndefined();
  });

  test("colours the graph's boxes by measured seconds", async () => {
    const capsule = (graph as unknown as { capsule: Capsule }).capsule;
    const picture = await scene(capsule.parts[0]?.value as Parameters<typeof scene>[0]);
    const made = colouring("profile", picture, null, null, numpy);
    const box = picture.boxes.get("to_go") ?? "";
    expect(made.levels.get(box)).toBe(1);
    expect(made.words.get(box)).toMatch(/^5 ms · 56 %/);
    expect(colouring("profile", picture, null, null, null).ticks).toEqual([]);
  });
});
