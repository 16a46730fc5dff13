import { afterEach, beforeEach, expect, test } from "vitest";
import { type Focus, isOwn, keepFocus, shareKeys } from "../../src/frame/keyboard";

let place: HTMLElement;
let stop: () => void;
let focus: Focus;
beforeEach(() => {
  place = document.body.appendChild(document.createElement("div"));
  place.tabIndex = -1;
  place.innerHTML = '<button id="one">1</button><button id="two">2</button><input id="text">';
  stop = shareKeys(place);
  focus = keepFocus(place);
});
afterEach(() => {
  stop();
  focus.end();
  place.remove();
});

const at = (id: string): HTMLElement => place.querySelector<HTMLElement>(`#${id}`) as HTMLElement;
const settled = (): Promise<void> => new Promise((done) => setTimeout(done));

/** Tells whether Lumino, which listens on `document` before the elements do, would leave the key alone. */
function rests(id: string, key: string, more: KeyboardEventInit = {}): boolean {
  let found = false;
  const look = (): void => void (found = place.hasAttribute("data-lm-suppress-shortcuts"));
  document.addEventListener("keydown", look, true);
  at(id).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  document.removeEventListener("keydown", look, true);
  return found;
}

test("plain keys and those of the workbench with Control are not JupyterLab's", () => {
  for (const key of ["a", "d", "Escape", "ArrowUp"]) expect(rests("one", key)).toBe(true);
  expect(rests("one", "Enter", { shiftKey: true })).toBe(true);
  for (const key of ["z", "y", "s", "a", "c", "v", "x", "Enter"]) expect(rests("one", key, { ctrlKey: true })).toBe(true);
  expect(rests("one", "Z", { metaKey: true, shiftKey: true })).toBe(true);
});

test("other keys with Control, Meta or Alt are JupyterLab's", () => {
  expect(rests("one", "b", { ctrlKey: true })).toBe(false);
  for (const key of ["C", "[", "]", "S"]) expect(rests("one", key, { ctrlKey: true, shiftKey: true })).toBe(false);
  expect(rests("text", "b", { ctrlKey: true })).toBe(false);
  expect(rests("one", "w", { altKey: true })).toBe(false);
  expect(rests("one", "j")).toBe(true); // the next key is told apart anew
});

test("a text field keeps the keys with which text is written", () => {
  expect(rests("text", "ArrowLeft", { ctrlKey: true })).toBe(true);
  expect(rests("text", "Backspace", { ctrlKey: true })).toBe(true);
  expect(rests("text", "@", { altKey: true })).toBe(true);
  expect(rests("one", "ArrowLeft", { ctrlKey: true })).toBe(false);
});

test("a workbench that is taken down, and keys elsewhere, change nothing", () => {
  stop();
  expect(rests("one", "b", { ctrlKey: true })).toBe(true);
  expect(isOwn(new KeyboardEvent("keydown", { key: "b" }))).toBe(true);
});

test("the focus stays in the workbench when what had it vanishes or is disabled", async () => {
  at("one").focus();
  at("one").remove();
  await settled();
  expect(document.activeElement).toBe(place);
  at("two").focus();
  (at("two") as HTMLButtonElement).disabled = true;
  await settled();
  expect(document.activeElement).toBe(place);
});

test("it is not taken from elsewhere, and comes back to where it was", async () => {
  const other = document.body.appendChild(document.createElement("button"));
  at("two").focus();
  other.focus();
  at("one").remove();
  await settled();
  expect(document.activeElement).toBe(other);
  focus.take();
  expect(document.activeElement).toBe(at("two"));
  other.focus();
  at("two").remove();
  await settled();
  focus.take();
  expect(document.activeElement).toBe(place);
  other.remove();
});
