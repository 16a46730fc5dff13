// The drawn graph as a document of its own: at full size, in the colours on the screen.

import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import type { Store } from "../model/store";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 12;

/** The properties of the style sheet that are written into each element. */
const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
  "paint-order", "opacity", "font-family", "font-size", "font-weight", "text-anchor",
] as const;

/** The attributes that concern the page alone. */
const UNWANTED = ["class", "style", "tabindex", "role", "aria-pressed", "data-name"] as const;

/** Returns an SVG of the whole graph, in view or not. `root` is the element it is drawn in. */
export function picture(root: HTMLElement, { tools }: Store): SVGSVGElement {
  const sheet = tools.sheet?.();
  if (!sheet) throw new Error("There is no picture yet.");
  // It is drawn where the page's style sheet holds, and then gets the sheet's values.
  const stage = document.createElementNS(SVG, "svg");
  stage.setAttribute("class", "wbk-sheet");
  root.append(stage);
  const drawing = createRoot(stage);
  try {
    flushSync(() => drawing.render(sheet));
    const made = stage.cloneNode(true) as SVGSVGElement;
    const [drawn, copied] = [stage.querySelector("g"), made.querySelector("g")];
    if (!drawn || !copied) throw new Error("There is no picture yet.");
    settle(everything(drawn), everything(copied));
    const { x, y, width, height } = drawn.getBBox();
    const [left, top] = [x - MARGIN, y - MARGIN];
    const [wide, high] = [width + 2 * MARGIN, height + 2 * MARGIN];
    made.removeAttribute("class");
    made.setAttribute("viewBox", [left, top, wide, high].map((value) => value.toFixed(2)).join(" "));
    made.setAttribute("width", wide.toFixed(0));
    made.setAttribute("height", high.toFixed(0));
    made.prepend(ground(left, top, wide, high, getComputedStyle(root).backgroundColor));
    return made;
  } finally {
    drawing.unmount();
    stage.remove();
  }
}

const everything = (group: SVGGElement): SVGElement[] => [group, ...group.querySelectorAll<SVGElement>("*")];

/** Writes the style sheet's values for the drawn elements into their copies. */
function settle(drawn: readonly SVGElement[], copies: readonly SVGElement[]): void {
  drawn.forEach((element, position) => {
    const copy = copies[position];
    if (!copy) return;
    const style = getComputedStyle(element);
    for (const name of UNWANTED) copy.removeAttribute(name);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value && value !== "normal") copy.setAttribute(name, value);
    }
  });
}

function ground(x: number, y: number, width: number, height: number, colour: string): SVGRectElement {
  const made = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ x, y, width, height })) made.setAttribute(name, value.toFixed(2));
  made.setAttribute("fill", colour);
  return made;
}

/** Opens the browser's print dialogue on a page of the picture's own size; it also writes PDF. */
export function print(drawn: SVGSVGElement, title: string): void {
  const frame = document.createElement("iframe");
  frame.style.cssText = "position: fixed; width: 0; height: 0; border: 0; visibility: hidden";
  frame.setAttribute("aria-hidden", "true");
  document.body.append(frame);
  const [page, inside] = [frame.contentWindow, frame.contentDocument];
  if (!page || !inside) throw new Error("The browser does not let this page print.");
  const style = inside.createElement("style");
  const [width, height] = [drawn.getAttribute("width"), drawn.getAttribute("height")];
  style.textContent =
    `@page { size: ${width}px ${height}px; margin: 0 } body { margin: 0 } svg { display: block } ` +
    "* { print-color-adjust: exact }";
  inside.title = title;
  inside.head.append(style);
  inside.body.append(inside.adoptNode(drawn));
  page.addEventListener("afterprint", () => frame.remove());
  page.focus();
  page.print();
}
