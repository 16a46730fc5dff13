// The dependence graph: drawn by Graphviz, zoomed by d3, with the selection and its neighbours lit.

import { select } from "d3-selection";
import { zoom, type ZoomBehavior, zoomIdentity, type ZoomTransform } from "d3-zoom";
import { element, svgElement } from "../dom";
import { type Arrow, arrows, dot } from "./dot";
import {
  around,
  atFirst,
  centred,
  FAR,
  fitting,
  isInSight,
  READABLE,
  type Rectangle,
  showing,
  type Size,
  type View,
  whole,
} from "./frame";
import { layout, type Picture } from "./layout";
import { prepare } from "./marks";
import { nearest, type Direction } from "./navigate";
import { box, isInside, key, scopes } from "../model/scopes";
import type { Path } from "../model/selection";
import { NOTHING, type Selected, type Selection } from "./selected";
import type { Snapshot } from "../protocol";

export interface Graph {
  readonly element: HTMLElement;
  /** Shows the whole graph, however small. */
  fit(): void;
  zoomBy(factor: number): void;
  /** Lights the boxes of these statements and brings them into view; null lights none and dims none. */
  mark(ids: ReadonlySet<string> | null): void;
  /** Opens the scopes around a statement, selects it and brings it into view. */
  show(id: string): void;
  toggle(scope: Path): void;
  /** Opens every scope, or goes back to those open at first. */
  openAll(open: boolean): void;
  /** Height of the picture at full size, in pixels; 0 before it is drawn. */
  readonly height: number;
  /** Resolves when the last asked picture is drawn. */
  readonly drawn: Promise<void>;
  destroy(): void;
}

const ARROW_KEYS: Readonly<Record<string, Direction>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

export function createGraph(snapshot: Snapshot, selection: Selection): Graph {
  const every = scopes(snapshot);
  const positions = new Map(snapshot.nodes.map((node, position) => [node.id, position]));
  const host = element("div", "wbk-graph");
  const svg = svgElement("svg", "wbk-svg");
  const viewport = svgElement("g", "wbk-viewport");
  svg.append(viewport);
  host.append(svg);
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `Dependence graph of ${snapshot.name}`);

  let closed: ReadonlySet<string> = new Set(snapshot.closed.map(key));
  let drawnArrows: readonly Arrow[] = [];
  let boxes = new Map<string, SVGGElement>();
  let picture: Picture | null = null;
  let transform: ZoomTransform = zoomIdentity;
  let matches: ReadonlySet<string> | null = null;
  /** What the view goes back to when the window changes; none once the reader moved it. */
  let frame: "first" | "whole" | "none" = "first";
  let clicked: string | null = null;
  let revision = 0;
  let drawn = Promise.resolve();

  const behavior: ZoomBehavior<SVGSVGElement, unknown> = zoom<SVGSVGElement, unknown>()
    .scaleExtent([0.02, 6])
    .filter((event: Event) => {
      if (event instanceof WheelEvent) return event.ctrlKey || event.metaKey; // else the page scrolls
      return !(event instanceof MouseEvent && event.button !== 0);
    })
    .on("zoom", (event: { transform: ZoomTransform; sourceEvent: unknown }) => {
      transform = event.transform;
      if (event.sourceEvent) frame = "none";
      viewport.setAttribute("transform", transform.toString());
      // From afar, boxes show their names alone and scopes grow theirs, so that both can be read.
      svg.classList.toggle("wbk-far", transform.k < FAR);
      host.style.setProperty("--wbk-scope-size", `${Math.min(90, Math.max(11, 11 / transform.k))}px`);
    });
  const surface = select(svg).call(behavior).on("dblclick.zoom", null);

  const room = (): Size => ({ width: host.clientWidth, height: host.clientHeight });

  function look({ x, y, k }: View): void {
    surface.call(behavior.transform, zoomIdentity.translate(x, y).scale(k));
  }

  /** Where something is drawn, in the picture's own points. */
  function place(shape: Element | null | undefined): Rectangle | null {
    if (!shape) return null;
    const [inner, outer] = [shape.getBoundingClientRect(), host.getBoundingClientRect()];
    return {
      left: (inner.left - outer.left - transform.x) / transform.k,
      top: (inner.top - outer.top - transform.y) / transform.k,
      width: inner.width / transform.k,
      height: inner.height / transform.k,
    };
  }

  /** A box, or the ground of an open scope. */
  const shape = (name: string): Element | null =>
    boxes.get(name) ?? viewport.querySelector(`g.cluster[data-name="${name}"] path`);

  const places = (names: Iterable<string | null>): Rectangle[] =>
    [...names].flatMap((name) => place(boxes.get(name ?? "")) ?? []);

  function arrange(): void {
    const outer = room();
    if (!picture || !outer.width || !outer.height) return;
    if (frame === "first") look(atFirst(picture, places(boxes.keys()), outer));
    else look(centred(whole(picture), outer, fitting(picture, outer)));
  }

  function fit(): void {
    frame = "whole";
    arrange();
  }

  async function draw(anchor: string | null): Promise<void> {
    const mine = ++revision;
    const before = anchor === null ? null : place(shape(anchor));
    host.classList.add("wbk-busy");
    let made: Picture;
    try {
      made = await layout(dot(snapshot, closed));
    } catch (problem) {
      // Graphviz gives up on some nestings of boxes: the outermost scopes alone always work.
      const outermost = new Set(every.filter((path) => path.length === 1).map(key));
      if (outermost.size === 0) throw problem;
      closed = outermost;
      made = await layout(dot(snapshot, closed));
    }
    if (mine !== revision) return;
    picture = made;
    drawnArrows = arrows(snapshot, closed);
    boxes = prepare(made.group, snapshot, every, drawnArrows);
    viewport.replaceChildren(made.group);
    host.classList.remove("wbk-busy");
    const after = anchor === null ? null : place(shape(anchor));
    if (before && after) {
      // The scope opens and closes where it is, and moves only where it would not be seen.
      const { x, y, k } = transform;
      const [dx, dy] = [(before.left - after.left) * k, (before.top - after.top) * k];
      frame = "none";
      const inner = fitting(made, room()) >= k ? whole(made) : after;
      look(showing(inner, room(), { x: x + dx, y: y + dy, k }));
    } else {
      frame = "first";
      arrange();
    }
    light();
    paint(selection.current);
    rove(boxName(selection.current) ?? boxes.keys().next().value ?? null);
  }

  function redraw(anchor: string | null): void {
    drawn = draw(anchor).catch((problem: unknown) => {
      host.classList.remove("wbk-busy");
      host.replaceChildren(
        element("p", "wbk-problem", `The graph could not be laid out: ${String(problem)}`),
      );
    });
  }

  function toggle(scope: Path): void {
    const next = new Set(closed);
    if (!next.delete(key(scope))) next.add(key(scope));
    closed = next;
    if (selection.current.kind === "scope") selection.select(NOTHING);
    const hadFocus = svg.contains(document.activeElement);
    redraw(nameOf(scope));
    void drawn.then(() => {
      if (hadFocus) focus(boxes.has(nameOf(scope)) ? nameOf(scope) : firstInside(scope));
    });
  }

  /** The first box inside an open scope, of those that are seen where there are some. */
  function firstInside(scope: Path): string | null {
    const ids = snapshot.nodes.filter((node) => isInside(node.scope, scope)).map((node) => node.id);
    const names = ids.map((id) => boxName({ kind: "statement", id }));
    const seen = (name: string | null): boolean =>
      places([name]).some((inner) => isInSight(inner, room(), transform));
    return names.find(seen) ?? names[0] ?? null;
  }

  const nameOf = (scope: Path): string =>
    `s${every.findIndex((path) => key(path) === key(scope))}`;

  /** The box in which something is drawn: its own, or the closed scope around it. */
  function boxName(selected: Selected): string | null {
    if (selected.kind === "none") return null;
    if (selected.kind === "scope") return selected.name;
    const position = positions.get(selected.id);
    const node = position === undefined ? undefined : snapshot.nodes[position];
    if (!node) return null;
    const outer = box(node.scope, closed);
    return outer ? nameOf(outer) : `n${position}`;
  }

  function paint(selected: Selected): void {
    const name = boxName(selected);
    svg.classList.toggle("wbk-has-selection", name !== null);
    for (const [other, group] of boxes) {
      group.classList.toggle("wbk-selected", other === name);
      group.classList.remove("wbk-input", "wbk-output");
      group.setAttribute("aria-pressed", String(other === name));
    }
    drawnArrows.forEach((arrow, position) => {
      const [from, to] = [arrow.source === name, arrow.target === name];
      const group = viewport.querySelector(`[data-name="e${position}"]`);
      group?.classList.toggle("wbk-touched", from || to);
      if (to && !from) boxes.get(arrow.source)?.classList.add("wbk-input");
      if (from && !to) boxes.get(arrow.target)?.classList.add("wbk-output");
    });
  }

  /** One box takes part in the page's tab order, the arrow keys go on from there. */
  function rove(name: string | null): void {
    for (const [other, group] of boxes) {
      group.setAttribute("tabindex", other === name ? "0" : "-1");
    }
  }

  function focus(name: string | null): void {
    const group = name === null ? boxes.values().next().value : boxes.get(name);
    if (!group) return;
    rove(group.dataset["name"] ?? null);
    group.focus({ preventScroll: true });
    const inner = place(group);
    if (inner) move(showing(inner, room(), transform));
  }

  /** A view that the reader asked for stays when the window changes. */
  function move(view: View): void {
    frame = "none";
    look(view);
  }

  /** Shows all of these boxes where their names can then be read; otherwise the first, or any. */
  function bringIntoSight(first: string | null, others: readonly (string | null)[]): void {
    const [wanted, outer] = [places([first, ...others]), room()];
    const [needed] = wanted;
    if (!needed) return;
    const all = around(wanted);
    const k = fitting(all, outer);
    const seen = (inner: Rectangle): boolean => isInSight(inner, outer, transform);
    if (k >= transform.k) look(showing(all, outer, transform));
    else if (k >= READABLE) look(centred(all, outer, k));
    else if (first === null ? !wanted.some(seen) : !seen(needed)) {
      look(centred(needed, outer, transform.k));
    }
  }

  const matching = (): (string | null)[] =>
    [...(matches ?? [])].map((id) => boxName({ kind: "statement", id }));

  /** After the pane opened or closed: what was seen of the whole, then the selection and the matches. */
  function makeRoom(): void {
    const outer = room();
    if (frame !== "none") arrange();
    else if (picture && fitting(picture, outer) >= transform.k) {
      look(centred(whole(picture), outer, transform.k));
    }
    if (frame !== "whole") bringIntoSight(boxName(selection.current), matching());
  }

  /** From afar, a click on a scope's ground brings that scope close. */
  function closer(name: string): void {
    const inner = place(shape(name));
    if (inner) move(centred(inner, room(), Math.max(READABLE, fitting(inner, room()))));
  }

  function light(): void {
    svg.classList.toggle("wbk-has-matches", matches !== null);
    const lit = new Set(matching());
    for (const [name, group] of boxes) group.classList.toggle("wbk-match", lit.has(name));
  }

  function choose(name: string): void {
    const node = name.startsWith("n") ? snapshot.nodes[Number(name.slice(1))] : undefined;
    if (node) selection.select({ kind: "statement", id: node.id });
    else selection.select({ kind: "scope", name });
    rove(name);
  }

  const scopeAt = (name: string): Path | undefined => every[Number(name.slice(1))];

  function targetName(event: Event): { name: string; header: boolean } | null {
    if (!(event.target instanceof Element)) return null;
    const group = event.target.closest<SVGGElement>("g.node, g.cluster");
    const name = group?.dataset["name"];
    if (!group || !name) return null;
    return { name, header: group.matches(".cluster") && event.target.matches("text") };
  }

  svg.addEventListener("click", (event) => {
    if (event.defaultPrevented) return;
    const target = targetName(event);
    const scope = target?.header ? scopeAt(target.name) : undefined;
    if (event.detail > 1) return; // a double click selects what its first click hit
    clicked = scope ? null : (target?.name ?? null);
    if (scope) toggle(scope);
    else if (target && boxes.has(target.name)) {
      choose(target.name);
      boxes.get(target.name)?.focus({ preventScroll: true });
    } else if (target && transform.k < READABLE) closer(target.name);
    else selection.select(NOTHING);
  });
  svg.addEventListener("dblclick", (event) => {
    const name = targetName(event)?.name ?? "";
    const scope = name === clicked && boxes.has(name) && name.startsWith("s") ? scopeAt(name) : undefined;
    if (scope) toggle(scope);
  });
  svg.addEventListener("keydown", (event) => {
    const from = event.target instanceof SVGGElement ? event.target.dataset["name"] : undefined;
    const direction = ARROW_KEYS[event.key];
    if (event.key === "Escape") selection.select(NOTHING);
    else if (from && direction) focus(nearest(boxes, from, direction));
    else if (from && (event.key === "Enter" || event.key === " ")) {
      const scope = from.startsWith("s") ? scopeAt(from) : undefined;
      if (scope) toggle(scope);
      else choose(from);
    } else if (from && event.key === "c") {
      const around = from.startsWith("s")
        ? scopeAt(from)?.slice(0, -1)
        : snapshot.nodes[Number(from.slice(1))]?.scope;
      if (around?.length) toggle(around);
    } else if (event.key === "+" || event.key === "=") surface.call(behavior.scaleBy, 1.3);
    else if (event.key === "-") surface.call(behavior.scaleBy, 1 / 1.3);
    else if (event.key === "0" || event.key === "f") fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  selection.onChange(paint);
  const observer = new ResizeObserver(makeRoom);
  observer.observe(host);
  redraw(null);

  return {
    element: host,
    fit,
    toggle,
    openAll(open) {
      closed = new Set(open ? [] : snapshot.closed.map(key));
      redraw(null);
    },
    zoomBy(factor) {
      frame = "none";
      surface.call(behavior.scaleBy, factor);
    },
    mark(ids) {
      matches = ids;
      light();
      bringIntoSight(null, matching());
    },
    show(id) {
      const path = snapshot.nodes[positions.get(id) ?? -1]?.scope ?? [];
      const open = new Set(closed);
      for (let depth = 1; depth <= path.length; depth++) open.delete(key(path.slice(0, depth)));
      if (open.size !== closed.size) {
        const outermost = boxName({ kind: "statement", id });
        closed = open;
        redraw(outermost);
      }
      selection.select({ kind: "statement", id });
      void drawn.then(() => {
        const inner = place(boxes.get(boxName({ kind: "statement", id }) ?? ""));
        if (!inner || isInSight(inner, room(), transform)) return;
        move(centred(inner, room(), Math.max(READABLE, transform.k)));
      });
    },
    get height() {
      return picture?.height ?? 0;
    },
    get drawn() {
      return drawn;
    },
    destroy() {
      revision++;
      observer.disconnect();
      surface.on(".zoom", null);
    },
  };
}
