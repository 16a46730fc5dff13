// The dependence graph: drawn by Graphviz, zoomed by d3, with the selection and its neighbours lit.

import { select } from "d3-selection";
import { zoom, type ZoomBehavior, zoomIdentity, type ZoomTransform } from "d3-zoom";
import { element, svgElement } from "./dom";
import { type Arrow, arrows, dot } from "./dot";
import { layout, type Picture } from "./layout";
import { prepare } from "./marks";
import { nearest, type Direction } from "./navigate";
import { box, key, type Path, scopes } from "./scopes";
import { NOTHING, type Selected, type Selection } from "./selection";
import type { Snapshot } from "./snapshot";

export interface Graph {
  readonly element: HTMLElement;
  fit(): void;
  zoomBy(factor: number): void;
  /** Lights the boxes of these statements; null lights none and dims none. */
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

/** Below this scale the two lines of a box cannot be read, and its name alone is drawn. */
const FAR = 0.6;

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
  let fitted = true;
  let revision = 0;
  let drawn = Promise.resolve();

  const behavior: ZoomBehavior<SVGSVGElement, unknown> = zoom<SVGSVGElement, unknown>()
    .scaleExtent([0.02, 6])
    .filter((event: Event) => {
      if (event instanceof WheelEvent) {
        return event.ctrlKey || event.metaKey || host.contains(document.activeElement);
      }
      return !(event instanceof MouseEvent && event.button !== 0);
    })
    .on("zoom", (event: { transform: ZoomTransform; sourceEvent: unknown }) => {
      transform = event.transform;
      if (event.sourceEvent) fitted = false;
      viewport.setAttribute("transform", transform.toString());
      // From afar, boxes show their names alone and scopes grow theirs, so that both can be read.
      svg.classList.toggle("wbk-far", transform.k < FAR);
      host.style.setProperty("--wbk-scope-size", `${Math.min(90, Math.max(11, 11 / transform.k))}px`);
    });
  const surface = select(svg).call(behavior).on("dblclick.zoom", null);

  function fit(): void {
    const { clientWidth, clientHeight } = host;
    if (!picture || !clientWidth || !clientHeight) return;
    const scale = Math.min(
      1.4,
      (clientWidth - 16) / picture.width,
      (clientHeight - 16) / picture.height,
    );
    const x = (clientWidth - picture.width * scale) / 2;
    const y = (clientHeight - picture.height * scale) / 2;
    surface.call(behavior.transform, zoomIdentity.translate(x, y).scale(scale));
    fitted = true;
  }

  async function draw(anchor: string | null): Promise<void> {
    const mine = ++revision;
    const before = anchor === null ? null : (boxes.get(anchor)?.getBoundingClientRect() ?? null);
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
    const after = anchor === null ? null : (boxes.get(anchor)?.getBoundingClientRect() ?? null);
    if (before && after && !fitted) {
      const [dx, dy] = [before.left - after.left, before.top - after.top];
      surface.call(behavior.translateBy, dx / transform.k, dy / transform.k);
    } else fit();
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
      if (hadFocus) focus(boxes.has(nameOf(scope)) ? nameOf(scope) : null);
    });
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
    if (name !== null) fitted = false; // the pane that opens must not move the picture
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
    bringIntoView(group);
  }

  function bringIntoView(group: SVGGElement, scale = transform.k < 0.5 ? 1 : transform.k): void {
    const [inner, outer] = [group.getBoundingClientRect(), host.getBoundingClientRect()];
    const outside =
      inner.left < outer.left || inner.right > outer.right ||
      inner.top < outer.top || inner.bottom > outer.bottom;
    if (!outside && scale === transform.k) return;
    const x = (inner.left + inner.width / 2 - outer.left - transform.x) / transform.k;
    const y = (inner.top + inner.height / 2 - outer.top - transform.y) / transform.k;
    moveTo(x, y, scale);
  }

  /** After the pane opened or closed: all of a picture that fits, otherwise the selected box, without zooming. */
  function makeRoom(): void {
    const { clientWidth, clientHeight } = host;
    const [width, height] = [picture?.width ?? Infinity, picture?.height ?? Infinity];
    if (width * transform.k < clientWidth && height * transform.k < clientHeight) {
      moveTo(width / 2, height / 2, transform.k);
      return;
    }
    const group = boxes.get(boxName(selection.current) ?? "");
    if (group) bringIntoView(group, transform.k);
  }

  /** From afar, a click on a scope's ground brings that scope close. */
  function closer(name: string): void {
    const ground = viewport.querySelector(`g.cluster[data-name="${name}"] path`);
    const [inner, outer] = [ground?.getBoundingClientRect(), host.getBoundingClientRect()];
    if (!inner) return;
    const factor = 0.94 * Math.min(outer.width / inner.width, outer.height / inner.height);
    const scale = Math.min(1.4, Math.max(FAR, transform.k * factor));
    const x = (inner.left + inner.width / 2 - outer.left - transform.x) / transform.k;
    const y = (inner.top + inner.height / 2 - outer.top - transform.y) / transform.k;
    moveTo(x, y, scale);
  }

  function moveTo(x: number, y: number, scale: number): void {
    const [width, height] = [host.clientWidth / 2, host.clientHeight / 2];
    fitted = false;
    surface.call(
      behavior.transform,
      zoomIdentity.translate(width - x * scale, height - y * scale).scale(scale),
    );
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
    if (scope) toggle(scope);
    else if (target && boxes.has(target.name)) {
      choose(target.name);
      boxes.get(target.name)?.focus({ preventScroll: true });
    } else if (target && transform.k < FAR) closer(target.name);
    else selection.select(NOTHING);
  });
  svg.addEventListener("dblclick", (event) => {
    const name = targetName(event)?.name ?? "";
    const scope = name.startsWith("s") ? scopeAt(name) : undefined;
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
  const observer = new ResizeObserver(() => {
    if (fitted) fit();
    else makeRoom();
  });
  observer.observe(host);
  redraw(null);

  return {
    element: host,
    fit,
    toggle,
    openAll(open) {
      closed = new Set(open ? [] : snapshot.closed.map(key));
      fitted = true;
      redraw(null);
    },
    zoomBy(factor) {
      fitted = false;
      surface.call(behavior.scaleBy, factor);
    },
    mark(ids) {
      svg.classList.toggle("wbk-has-matches", ids !== null);
      for (const group of boxes.values()) group.classList.remove("wbk-match");
      for (const id of ids ?? []) {
        boxes.get(boxName({ kind: "statement", id }) ?? "")?.classList.add("wbk-match");
      }
    },
    show(id) {
      const path = snapshot.nodes[positions.get(id) ?? -1]?.scope ?? [];
      const open = new Set(closed);
      for (let depth = 1; depth <= path.length; depth++) open.delete(key(path.slice(0, depth)));
      if (open.size !== closed.size) {
        closed = open;
        redraw(null);
      }
      selection.select({ kind: "statement", id });
      void drawn.then(() => {
        const group = boxes.get(boxName({ kind: "statement", id }) ?? "");
        if (group) bringIntoView(group);
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
