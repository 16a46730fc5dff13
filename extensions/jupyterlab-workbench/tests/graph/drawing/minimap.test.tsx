// The small picture: where it lies, and when it fades.

import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Minimap, type Overview } from "../../../src/graph/drawing/minimap";
import type { Painting } from "../../../src/graph/drawing/paint";
import type { Rectangle, Size, View } from "../../../src/graph/window/geometry";

const ROOM = { width: 800, height: 600 };
/** A picture of which a window at this scale shows a fifth. */
const PICTURE = { width: 2000, height: 1200 };
const VIEW: View = { x: 0, y: 0, k: 1 };
const LINGERS = 1500;

let root: Root;
let handle: { current: Overview | null };

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  handle = { current: null };
  const host = document.createElement("div");
  document.body.append(host);
  root = createRoot(host);
});
afterEach(() => {
  act(() => root.unmount());
  document.body.replaceChildren();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const minimap = (...boxes: readonly Rectangle[]): HTMLElement => minimapOf(PICTURE, ...boxes);

function minimapOf(picture: Size, ...boxes: readonly Rectangle[]): HTMLElement {
  const layout = { ...picture, boxes: new Map(boxes.map((box, n) => [`box ${n}`, box])) };
  const painting = { layout, arrows: [], theme: { accent: [0, 0, 0] }, apart: new Set() } as unknown as Painting;
  act(() => root.render(<Minimap painting={painting} room={ROOM} lit={[]} handle={handle} onLook={() => {}} />));
  const shown = document.querySelector<HTMLElement>(".wbk-minimap");
  if (!shown) throw new Error("there is no small picture");
  return shown;
}

const show = (view: View = VIEW): void => handle.current?.show(view, ROOM);
const later = (milliseconds: number): void => void vi.advanceTimersByTime(milliseconds);
const fire = (shown: HTMLElement, name: "pointerover" | "pointerout"): void =>
  act(() => void shown.dispatchEvent(new MouseEvent(name, { bubbles: true })));

const EVERYWHERE: Rectangle = { left: 0, top: 0, ...PICTURE };
const BELOW: Rectangle = { left: 0, top: 500, width: 2000, height: 100 };

test.each([
  ["row", { width: 200_000, height: 400 }],
  ["column", { width: 400, height: 200_000 }],
])("of thousands of boxes in a %s it is a line", (_, picture) => {
  // Browsers throw where a canvas without pixels is to be shown.
  const { style } = minimapOf(picture).querySelector("canvas") as HTMLCanvasElement;
  expect(Math.min(parseFloat(style.width), parseFloat(style.height))).toBe(4);
});

test("it stays in a corner without boxes", () => {
  const shown = minimap(BELOW);
  show();
  expect([...shown.classList]).toEqual(["wbk-minimap", "wbk-top"]);
  later(10 * LINGERS);
  expect(shown.classList.contains("wbk-rests")).toBe(false);
});

test("over boxes it fades some time after the window was moved last", () => {
  const shown = minimap(EVERYWHERE);
  const fades = (): boolean => shown.classList.contains("wbk-rests");
  show();
  expect(shown.hidden).toBe(false);
  later(LINGERS - 1);
  expect(fades()).toBe(false);
  show({ ...VIEW, x: -10 });
  later(LINGERS - 1);
  expect(fades()).toBe(false);
  later(1);
  expect(fades()).toBe(true);
  show({ ...VIEW, x: -10 });
  expect(fades(), "drawn anew in the same place").toBe(true);
  show({ ...VIEW, x: -20 });
  expect(fades()).toBe(false);
});

test("under the pointer it stays", () => {
  const shown = minimap(EVERYWHERE);
  const fades = (): boolean => shown.classList.contains("wbk-rests");
  show();
  fire(shown, "pointerover");
  later(10 * LINGERS);
  expect(fades()).toBe(false);
  show({ ...VIEW, x: -10 });
  later(10 * LINGERS);
  expect(fades()).toBe(false);
  fire(shown, "pointerout");
  later(LINGERS);
  expect(fades()).toBe(true);
});

test("a window that shows most of the picture has none", () => {
  const shown = minimap(EVERYWHERE);
  show({ x: 0, y: 0, k: 0.4 });
  expect(shown.hidden).toBe(true);
});
