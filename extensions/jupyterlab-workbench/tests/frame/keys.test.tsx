import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Keys, pressed } from "../../src/frame/keys";
import { type Drawn, drawn, GOLDEN, texts } from "../drawing";

HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.open = true;
};

let shown: Drawn;
beforeEach(async () => {
  shown = await drawn(Keys, GOLDEN, true);
});
afterEach(() => shown.takeDown());

/** Presses a key in an element of the workbench; returns whether it meant something. */
function press(key: string, more: KeyboardEventInit = {}, inside = "div"): boolean {
  const target = shown.host.appendChild(document.createElement(inside));
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  shown.host.addEventListener("keydown", (heard) => pressed(heard, shown.store, shown.host), { once: true });
  target.dispatchEvent(event);
  return event.defaultPrevented;
}

const isOpen = (): boolean => shown.host.querySelector("dialog")?.open ?? false;

describe("keys", () => {
  test("are listed where ? is pressed, but not in a field", () => {
    expect(press("?", { shiftKey: true }, "input")).toBe(false);
    expect(isOpen()).toBe(false);
    expect(press("?", { shiftKey: true })).toBe(true);
    expect(isOpen()).toBe(true);
    expect(texts(shown.host, "dialog h4")).toEqual(["Everywhere", "Graph", "Search", "Panes", "Play", "Tour"]);
    expect(texts(shown.host, "dialog dd")).toContain("undoes the last step");
  });

  test("go to the search and to the open pane", () => {
    shown.host.insertAdjacentHTML("beforeend", '<svg class="wbk-viewport"></svg><input class="wbk-search">');
    shown.host.insertAdjacentHTML("beforeend", '<button class="wbk-tab" aria-selected="true">Moves</button>');
    expect(press("p")).toBe(true);
    expect(document.activeElement?.textContent).toBe("Moves");
    expect(press("/")).toBe(true);
    expect(document.activeElement?.className).toBe("wbk-search");
    expect(press("/", {}, "input")).toBe(false);
  });

  test("undo the last step and take it again", async () => {
    const { variants, current } = GOLDEN.state;
    const parent = variants.find(({ key }) => key === current)?.parent;
    expect(parent).toBeTruthy();
    expect(press("z", { ctrlKey: true })).toBe(true);
    expect(shown.sent.at(-1)).toMatchObject({ type: "show", variant: parent });
    await shown.answer((id) => ({ type: "done", id, variant: null }));
    const undone = { ...GOLDEN.state, current: parent as string, revision: GOLDEN.state.revision + 1 };
    await shown.hear({ type: "state", state: undone, open: false });
    expect(press("Z", { ctrlKey: true, shiftKey: true })).toBe(true);
    expect(shown.sent.at(-1)).toMatchObject({ type: "show", variant: current });
  });

  test("with other keys mean nothing here", () => {
    expect(press("z", { ctrlKey: true }, "textarea")).toBe(false);
    expect(press("z")).toBe(false);
    expect(press("z", { ctrlKey: true, altKey: true })).toBe(false);
    expect(shown.sent).toEqual([]);
  });
});
