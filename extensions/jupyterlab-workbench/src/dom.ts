// Elements from names, classes and text. Text is only ever set as text, never as markup.

export type Child = Node | string | null;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const child of children) if (child !== null) made.append(child);
  return made;
}

export function button(text: string, label: string, press: () => void): HTMLButtonElement {
  const made = element("button", "wbk-button", text);
  made.type = "button";
  made.title = label;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", press);
  return made;
}

export function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  className: string,
): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  if (className) made.setAttribute("class", className);
  return made;
}
