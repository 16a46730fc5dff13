// The drawn graph as a document of its own: at full size, with the colours that it is drawn with.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 12;

/** What the style sheet gives, written into each element. */
const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
  "paint-order", "opacity", "font-family", "font-size", "font-weight", "font-style",
] as const;

/** An SVG of all that is drawn in a workbench's graph, whatever of it is in view. */
export function picture(root: HTMLElement): SVGSVGElement {
  const drawn = root.querySelector(".wbk-viewport");
  if (!drawn) throw new Error("There is no picture yet.");
  // A copy that stands in the page takes its styles from there, without what marks zoom and selection.
  const stage = document.createElementNS(SVG, "svg");
  const copied = drawn.cloneNode(true) as SVGGElement;
  copied.removeAttribute("transform");
  stage.append(copied);
  stage.style.cssText = "position: absolute; visibility: hidden; --wbk-scope-size: 11px";
  root.append(stage);
  try {
    settle(copied);
    const { x, y, width, height } = copied.getBBox();
    const [left, top] = [x - MARGIN, y - MARGIN];
    const [wide, high] = [width + 2 * MARGIN, height + 2 * MARGIN];
    stage.setAttribute("xmlns", SVG);
    stage.setAttribute("viewBox", [left, top, wide, high].map((value) => value.toFixed(2)).join(" "));
    stage.setAttribute("width", wide.toFixed(0));
    stage.setAttribute("height", high.toFixed(0));
    stage.prepend(ground(left, top, wide, high, getComputedStyle(root).backgroundColor));
    stage.removeAttribute("style");
    return stage;
  } finally {
    stage.remove();
  }
}

function settle(copied: SVGGElement): void {
  const elements = [copied, ...copied.querySelectorAll<SVGElement>("*")];
  // Read all before any is written: the one changes what the other would say.
  const read = elements.map((element) => {
    const style = getComputedStyle(element);
    const hidden = style.display === "none" || (style.stroke === "rgba(0, 0, 0, 0)" && style.fill === "none");
    return { element, hidden, styles: STYLES.map((name) => [name, style.getPropertyValue(name)] as const) };
  });
  for (const { element, hidden, styles } of read) {
    if (hidden) element.remove();
    for (const name of ["class", "style", "tabindex", "role", "id", "aria-pressed"]) element.removeAttribute(name);
    for (const [name, value] of styles) if (value && value !== "normal") element.setAttribute(name, value);
  }
}

function ground(x: number, y: number, width: number, height: number, colour: string): SVGRectElement {
  const made = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ x, y, width, height })) made.setAttribute(name, value.toFixed(2));
  made.setAttribute("fill", colour);
  return made;
}

/** Opens the browser's print dialogue, which also writes PDF, on a page of the picture's own size. */
export function print(root: HTMLElement, title: string): void {
  const drawn = picture(root);
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
