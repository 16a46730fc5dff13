// The outline around the part that a stop of the tour speaks of. It follows that part, and lets every click through.

import { useEffect, useRef } from "react";

/** Pixels between a part and its outline. */
const GAP = 3;

/** Pixels of what stays at the upper edge of a pane over what is scrolled. */
const EDGE = 44;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** `at` finds the part in the workbench: it may be drawn later, and anew. */
export function Outline({ at }: { at: (root: ParentNode) => Element | null }): JSX.Element {
  const ring = useRef<HTMLDivElement>(null);
  const find = useRef(at);
  find.current = at;
  useEffect(() => {
    const shown = ring.current;
    const root = shown?.closest<HTMLElement>(".wbk-root");
    if (!shown || !root) return undefined;
    let frame = 0;
    let [holds, last] = [true, ""];
    const follow = (): void => {
      const part = find.current(root);
      if (part && holds) bringIntoPane(part);
      const box = part && inSight(part, root);
      const style = box ? placed(box, root.getBoundingClientRect()) : "display: none";
      if (style !== last) shown.style.cssText = last = style;
      frame = requestAnimationFrame(follow);
    };
    const release = (event: Event): void => {
      const target = event.target as Element;
      if (!target.closest(".wbk-tour")) holds = false; // the reader scrolls now
    };
    const kinds = ["wheel", "pointerdown", "touchmove", "keydown"] as const;
    for (const kind of kinds) root.addEventListener(kind, release, { capture: true, passive: true });
    follow();
    return () => {
      cancelAnimationFrame(frame);
      for (const kind of kinds) root.removeEventListener(kind, release, { capture: true });
    };
  }, []);
  return <div className="wbk-tour-ring" ref={ring} aria-hidden="true" />;
}

/** Returns the part of an element's box that nothing around it cuts off; null where all of it is. */
export function inSight(part: Element, root: Element): Box | null {
  let seen: Box = part.getBoundingClientRect();
  for (let around = part.parentElement; around; around = around.parentElement) {
    if (getComputedStyle(around).overflow !== "visible") seen = common(seen, around.getBoundingClientRect());
    if (around === root) break;
  }
  return seen.right > seen.left && seen.bottom > seen.top ? seen : null;
}

const common = (one: Box, other: Box): Box => ({
  left: Math.max(one.left, other.left),
  top: Math.max(one.top, other.top),
  right: Math.min(one.right, other.right),
  bottom: Math.min(one.bottom, other.bottom),
});

/** Returns the style of a ring around a box, within the workbench. */
function placed(box: Box, root: Box): string {
  const [left, top] = [Math.max(0, box.left - root.left - GAP), Math.max(0, box.top - root.top - GAP)];
  const right = Math.min(root.right - root.left, box.right - root.left + GAP);
  const bottom = Math.min(root.bottom - root.top, box.bottom - root.top + GAP);
  const px = (value: number): string => `${value.toFixed(1)}px`;
  return `left: ${px(left)}; top: ${px(top)}; width: ${px(right - left)}; height: ${px(bottom - top)}`;
}

/** Scrolls the pane that a part stands in so that the part is seen, from its upper edge where it is higher. */
function bringIntoPane(part: Element): void {
  const pane = part.parentElement?.closest('[role="tabpanel"]');
  if (!pane) return;
  const [inner, outer] = [part.getBoundingClientRect(), pane.getBoundingClientRect()];
  const fits = inner.height <= outer.height - EDGE;
  const above = inner.top - (outer.top + EDGE);
  const below = inner.bottom - outer.bottom + GAP;
  if (above < 0 || !fits) pane.scrollTop += above;
  else if (below > 0) pane.scrollTop += Math.min(below, above);
}
