import { afterEach, describe, expect, test } from "vitest";
import schema from "../../../schema/plugin.json";
import { Panes } from "../../../src/frame/panes/panes";
import { VIEWS } from "../../../src/views";
import { byText, type Drawn, drawn, fire, texts } from "../../drawing";

let shown: Drawn;
afterEach(() => shown.takeDown());

const Beside = (): JSX.Element => <Panes wide share={0.5} />;
const Under = (): JSX.Element => <Panes wide={false} share={0.5} />;

describe("the tabs", () => {
  test("stand in a column beside the graph, whether a pane is open or not", async () => {
    shown = await drawn(Beside);
    const list = shown.host.querySelector("[role=tablist]");
    expect(list?.getAttribute("aria-orientation")).toBe("vertical");
    await shown.press(byText(shown.host, "[role=tab]", "Variants"));
    expect(shown.host.querySelector("[role=tablist]")).toBe(list);
    expect(list?.getAttribute("aria-orientation")).toBe("vertical");
    expect(texts(shown.host, "[role=tab]")).toEqual(VIEWS.map(({ title }) => title));
  });

  test("are gone through with the arrow keys", async () => {
    shown = await drawn(Under);
    const tabs = [...shown.host.querySelectorAll<HTMLElement>("[role=tab]")];
    tabs[0]?.focus();
    await fire(tabs[0], new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
    expect(document.activeElement).toBe(tabs.at(-1));
  });
});

test("the button that closes the pane comes after what is in it", async () => {
  shown = await drawn(Under);
  await shown.press(byText(shown.host, "[role=tab]", "Moves"));
  const panel = shown.host.querySelector("[role=tabpanel]");
  const close = shown.host.querySelector("[aria-label='Close the pane']");
  expect(panel?.compareDocumentPosition(close as Node)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(panel?.getAttribute("tabindex")).toBe("-1"); // from the tabs one goes on to its first field
});

test("every pane can be set to be open at first", () => {
  expect(schema.properties.pane.enum).toEqual(["none", ...VIEWS.map(({ name }) => name)]);
});
