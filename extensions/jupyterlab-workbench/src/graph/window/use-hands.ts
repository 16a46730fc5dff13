// The effect of mouse and keyboard on the picture.

import { useCallback, useEffect, useRef, useState } from "react";
import { isInside, key } from "../../model/scopes";
import type { Path } from "../../model/selection";
import { centred, fitting, READABLE, type Rectangle, showing } from "./geometry";
import { nearest, type Direction } from "./navigate";
import { type Hit, middle, NONE, pick } from "./pick";
import { type Arrow, type Scene, scopeBox, scopeOf, statementBox } from "../layout/scene";
import type { Pointed } from "../tooltip";
import type { Pointing } from "./use-pointed";
import type { Window } from "./use-window";

/** The actions of the picture's surroundings. */
export interface Hands {
  /** Selects; `more` keeps the present selection. */
  readonly select: (name: string | null, more: boolean) => void;
  readonly toggle: (scope: Path) => void;
}

const ARROW_KEYS: Readonly<Record<string, Direction>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** Pixels beside an arrow within which a click hits it. */
const REACH = 6;

interface Given {
  readonly scene: Scene;
  readonly window: Window;
  readonly pointing: Pointing;
  readonly hands: Hands;
  readonly selected: string | null;
}

export interface Hand {
  /** The one box in the page's tab order. */
  readonly roving: string | null;
  readonly handlers: Pick<
    React.SVGProps<SVGSVGElement>,
    "onClick" | "onDoubleClick" | "onKeyDown" | "onPointerDown" | "onWheel" | "onPointerMove" | "onPointerLeave" | "onFocus" | "onBlur"
  >;
}

export function useHands({ scene, window, pointing, hands, selected }: Given): Hand {
  const [wanted, setWanted] = useState<string | null>(null);
  const focusNext = useRef<string | null>(null);
  const clicked = useRef<string | null>(null);
  const { layout } = scene;
  const first = layout.boxes.keys().next().value ?? null;
  const roving = [wanted, selected].find((name) => name !== null && layout.boxes.has(name)) ?? first;

  // The arrow keys go on from the box that another view, or a search, selected.
  useEffect(() => {
    if (selected !== null) setWanted(selected);
  }, [selected]);

  // An element that is to have the focus may come with the next drawing.
  useEffect(() => {
    const name = focusNext.current;
    if (name === null) return;
    const found = [...(window.svg.current?.querySelectorAll<SVGGElement>("g.node") ?? [])];
    const element = found.find((one) => one.dataset["name"] === name);
    if (!element) return;
    focusNext.current = null;
    element.focus({ preventScroll: true });
  });

  const focus = useCallback(
    (name: string) => {
      const place = layout.boxes.get(name);
      setWanted(name);
      focusNext.current = name;
      if (place) window.move(showing(place, window.room, window.view()));
    },
    [layout, window],
  );

  /** Finds the object under the pointer: an element, else a painted one. */
  function hit(event: React.MouseEvent): Hit & { readonly header?: boolean } {
    const element = event.target instanceof Element ? event.target.closest<SVGElement>("g[data-name]") : null;
    const name = element?.dataset["name"];
    if (element && name && element.matches(".node")) return { kind: "box", id: name };
    if (element && name && element.matches(".wbk-scope-name")) return { kind: "ground", id: name, header: true };
    if (element && name && element.matches(".edge")) return { kind: "arrow", id: name };
    const outer = window.host.current?.getBoundingClientRect();
    if (!outer) return NONE;
    const { x, y, k } = window.view();
    return pick(layout, (event.clientX - outer.left - x) / k, (event.clientY - outer.top - y) / k, REACH / k);
  }

  function toggle(scope: Path): void {
    const name = scopeBox(scope);
    const had = window.svg.current?.contains(document.activeElement) ?? false;
    window.hold({ name, closely: true });
    pointing.say(null);
    hands.toggle(scope);
    if (!had) return;
    const inner = scene.closed.has(key(scope)) ? firstInside(scene, scope) : name;
    setWanted(inner);
    focusNext.current = inner;
  }

  /** Brings a scope close at a click on its ground from afar. */
  function closer(place: Rectangle | undefined): void {
    if (!place) return;
    window.move(centred(place, window.room, Math.max(READABLE, fitting(place, window.room))));
  }

  function choose(name: string, more: boolean): void {
    setWanted(name);
    hands.select(name, more);
  }

  function onClick(event: React.MouseEvent): void {
    if (event.detail > 1) return; // a double click selects what its first click hit
    const found = hit(event);
    clicked.current = found.kind === "box" ? found.id : null;
    if (found.kind === "arrow") return;
    if (found.kind === "box") {
      choose(found.id, event.shiftKey || event.ctrlKey || event.metaKey);
      focusNext.current = found.id;
    } else if (found.kind === "ground" && found.header) toggle(scopeOf(found.id) ?? []);
    else if (found.kind === "ground" && window.view().k < READABLE) closer(layout.grounds.get(found.id));
    else hands.select(null, false);
    if (found.kind !== "box") window.svg.current?.focus({ preventScroll: true }); // where keys are heard
  }

  function onDoubleClick(event: React.MouseEvent): void {
    const found = hit(event);
    const scope = found.kind === "box" && found.id === clicked.current ? scopeOf(found.id) : null;
    if (scope) toggle(scope);
  }

  function onPointerMove(event: React.PointerEvent): void {
    if (event.buttons) return; // the reader drags
    const found = hit(event);
    const outer = window.host.current?.getBoundingClientRect();
    if ((found.kind !== "box" && found.kind !== "arrow") || !outer) pointing.point(null);
    else pointing.point({ kind: found.kind, id: found.id, x: event.clientX - outer.left, y: event.clientY - outer.top });
  }

  /** Tells what an arrow is, beside its middle. */
  function read(id: string): void {
    const line = layout.lines.get(id);
    if (!line) return;
    const [x, y] = middle(line);
    const view = window.view();
    pointing.say({ kind: "arrow", id, x: x * view.k + view.x, y: y * view.k + view.y });
  }

  function onKeyDown(event: React.KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's and JupyterLab's
    const from = event.target instanceof SVGGElement ? (event.target.dataset["name"] ?? null) : null;
    const box = from !== null && layout.boxes.has(from) ? from : null;
    const direction = ARROW_KEYS[event.key];
    const arrow = pointing.said?.kind === "arrow" ? pointing.said : null;
    if (event.key === "Escape") {
      if (pointing.said) pointing.say(null);
      else hands.select(null, false);
      if (box === null && roving !== null) focus(roving); // an arrow is an element only while it is lit
    } else if (direction && roving !== null) {
      pointing.say(null);
      focus(box === null ? roving : nearest(layout.boxes, box, direction));
    } else if (event.key === "e" || event.key === "E") {
      const next = nextArrow(scene, box ?? selected, arrow, event.shiftKey ? -1 : 1);
      if (next) read(next);
    } else if (event.key === "Enter" || event.key === " ") enter(box, arrow, event.shiftKey);
    else if (event.key === "c" && box) {
      const around = scopeOf(box)?.slice(0, -1) ?? scene.inside.get(box)?.[0]?.scope ?? [];
      if (around.length) toggle(around);
    } else if (event.key === "+" || event.key === "=") window.zoom(1.3);
    else if (event.key === "-") window.zoom(1 / 1.3);
    else if (event.key === "0" || event.key.toLowerCase() === "f") window.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function enter(box: string | null, arrow: Pointed | null, more: boolean): void {
    const read = arrow && scene.arrows.find((one) => one.id === arrow.id);
    const other = read && box !== null ? (read.source === box ? read.target : read.source) : null;
    const scope = box === null ? null : scopeOf(box);
    pointing.say(null);
    if (other !== null) {
      focus(other);
      choose(other, false);
    } else if (scope) toggle(scope);
    else if (box !== null) choose(box, more);
  }

  return {
    roving,
    handlers: {
      onClick,
      onDoubleClick,
      onKeyDown,
      onPointerMove,
      onPointerDown: () => pointing.say(null),
      onWheel: () => pointing.say(null),
      onPointerLeave: () => pointing.point(null),
      onFocus: (event) => {
        const name = event.target instanceof SVGGElement ? event.target.dataset["name"] : undefined;
        if (name !== undefined && event.target.matches(".edge:focus-visible")) read(name);
      },
      onBlur: (event) => {
        const gone = event.relatedTarget instanceof Element && !event.relatedTarget.contains(event.currentTarget);
        const left = gone && !event.currentTarget.contains(event.relatedTarget);
        if (left || event.target.matches(".edge")) pointing.say(null);
      },
    },
  };
}

/** Goes through the arrows of a box one after the other, those that lead to it first. */
function nextArrow(scene: Scene, box: string | null, now: Pointed | null, step: number): string | null {
  const touching = (end: keyof Pick<Arrow, "source" | "target">): readonly Arrow[] =>
    scene.arrows.filter((arrow) => arrow[end] === box);
  const all = [...new Set([...touching("target"), ...touching("source")])];
  if (!all.length) return null;
  const at = all.findIndex((arrow) => arrow.id === now?.id);
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length;
  return all[next]?.id ?? null;
}

/** Returns the box that the first statement inside a scope gets once the scope is open. */
function firstInside(scene: Scene, scope: Path): string | null {
  const node = scene.snapshot.nodes.find((one) => isInside(one.scope, scope));
  if (!node) return null;
  for (let depth = scope.length + 1; depth <= node.scope.length; depth++) {
    const path = node.scope.slice(0, depth);
    if (scene.closed.has(key(path))) return scopeBox(path);
  }
  return statementBox(node.id);
}

