import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Details } from "../../../src/views/details/details";
import type { Capsule, LineView } from "../../../src/protocol";
import { act, byText, type Drawn, drawn } from "../../drawing";
import { altered, CAPSULE, WRITTEN } from "../../graph/pictures";

let shown: Drawn;
const show = vi.fn();

beforeEach(() => show.mockClear());
afterEach(() => shown.takeDown());

/** Draws what is known of the first statement, which was written at this line, beside a notebook. */
async function detailsOf(line: LineView): Promise<void> {
  const id = WRITTEN.nodes[0]?.id ?? "";
  const [picture, ...others] = CAPSULE.parts;
  if (!picture) throw new Error("there is no picture");
  const parts = [{ ...picture, value: altered(WRITTEN, id, { line }) }, ...others];
  const capsule: Capsule = { ...CAPSULE, state: { ...CAPSULE.state, current: picture.variant }, parts };
  shown = await drawn(Details, capsule, false, { showLine: show });
  await act(async () => shown.store.select({ statements: [id] }));
}

test("a line of a cell is shown in the notebook", async () => {
  await detailsOf({ file: "cell", number: 7, place: "cell 3, line 7", text: "    x = wb.uniform(over=b)" });
  await shown.press(byText(shown.host, "button", "Show in the notebook"));
  expect(show.mock.calls).toEqual([[7, "    x = wb.uniform(over=b)"]]);
});

test("a line of a file is named, as no cell has it", async () => {
  await detailsOf({ file: "cartpole.py", number: 40, place: "cartpole.py, line 40", text: "x = 1" });
  expect(byText(shown.host, "button", "Show in the notebook")).toBeUndefined();
  expect(shown.host.textContent).toContain("cartpole.py, line 40");
});
