import { afterEach, describe, expect, test, vi } from "vitest";
import { type Item, Menu } from "../../src/frame/menu";
import { byText, type Drawn, drawn, fire, texts } from "../drawing";

const run = vi.fn();
const item = (name: string, more: Partial<Item> = {}): Item => ({ name, label: name, refused: "", run: () => run(name), ...more });

let shown: Drawn;
afterEach(async () => {
  await shown?.takeDown();
  run.mockClear();
});

const draw = async (): Promise<void> => {
  const groups = [[item("copy"), item("rename", { refused: "no kernel" })], [item("remove", { warning: "Remove it and 2 more" })]];
  shown = await drawn(() => <Menu label="⋯" title="More for folded" isIcon items={() => groups} />);
};
const button = (): HTMLButtonElement => shown.host.querySelector("[aria-haspopup=menu]") as HTMLButtonElement;
const items = (): readonly string[] => texts(shown.host, "[role=menuitem]");
const focused = (): string => document.activeElement?.textContent ?? "";
const press = (key: string): Promise<void> =>
  fire(document.activeElement, new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

describe("a menu", () => {
  test("is gone through by arrow keys, Home and End, and Escape gives the focus back", async () => {
    await draw();
    await shown.press(button());
    expect(focused()).toBe("copy");
    for (const [key, to] of [
      ["ArrowDown", "renameno kernel"], ["ArrowDown", "remove"], ["ArrowDown", "copy"], ["ArrowUp", "remove"], ["Home", "copy"], ["End", "remove"],
    ] as const) {
      await press(key);
      expect(focused()).toBe(to);
    }
    await press("Escape");
    expect(items()).toEqual([]);
    expect(document.activeElement).toBe(button());
  });

  test("is opened by arrow keys too, at its end by the one upwards", async () => {
    await draw();
    button().focus();
    await press("ArrowDown");
    expect(focused()).toBe("copy");
    await press("Escape");
    await press("ArrowUp");
    expect(focused()).toBe("remove");
  });

  test("runs what is chosen, not what is refused, and shuts", async () => {
    await draw();
    await shown.press(button());
    await shown.press(byText(shown.host, "[role=menuitem]", "rename"));
    expect(run).not.toHaveBeenCalled();
    await shown.press(byText(shown.host, "[role=menuitem]", "copy"));
    expect(run).toHaveBeenCalledWith("copy");
    expect(items()).toEqual([]);
    expect(document.activeElement).toBe(button());
  });

  test("says what more goes before it runs what has a warning", async () => {
    await draw();
    await shown.press(button());
    await shown.press(byText(shown.host, "[role=menuitem]", "remove"));
    expect(run).not.toHaveBeenCalled();
    expect(items()).toContain("Remove it and 2 more");
    await shown.press(byText(shown.host, "[role=menuitem]", "Remove it and 2 more"));
    expect(run).toHaveBeenCalledWith("remove");
    await shown.press(button());
    expect(items()).toContain("remove"); // opened again, it is asked again
  });

  test("is shut by a press beside it, once that has met its goal", async () => {
    await draw();
    await shown.press(button());
    await fire(document.body, new Event("pointerdown", { bubbles: true }));
    expect(items()).not.toEqual([]);
    await shown.press(document.body);
    expect(items()).toEqual([]);
  });
});
