// The window onto the picture, and its moves when the picture, the room or the reader changes.

import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { type Camera, createCamera } from "./camera";
import {
  around, atFirst, centred, fitting, isInSight, READABLE, type Rectangle, showing, type Size, type View, whole,
} from "./geometry";
import type { Layout, Scene } from "../layout/scene";
import { isStale, sight, type Sight } from "./sight";

/** The view to go back to when the room changes; none once the reader moved it. */
type Frame = "first" | "whole" | "none";

export interface Window {
  readonly host: React.RefObject<HTMLDivElement>;
  readonly svg: React.RefObject<SVGSVGElement>;
  readonly viewport: React.RefObject<SVGGElement>;
  readonly room: Size;
  readonly sight: Sight;
  view(): View;
  /** A view that the reader asked for: it stays when the room changes. */
  move(view: View): void;
  zoom(factor: number): void;
  fit(): void;
  /** Shows all of these places where their names can then be read; otherwise the first, or any. */
  bring(first: Rectangle | null, others: readonly Rectangle[]): void;
  /** Holds a box at its place on the screen when the next picture comes; null for a first view. */
  hold(anchor: Anchor | null): void;
  /** Brings a box of this picture or of the next into sight. */
  seek(name: string): void;
  /** Takes the progress of the glide to the new scene, 0 to 1. */
  step(e: number): void;
}

/** A box to hold. `closely`: all of the picture is shown where that fits, even if the box has to move for it. */
export interface Anchor {
  readonly name: string;
  readonly closely: boolean;
}

interface Travel {
  readonly from: View;
  readonly to: View;
}

/** Holds the window's view. `drawn` is the present layout, `selected` the box that stays in place unless `hold` says
 * otherwise; `moved` hears every change of the view. */
export function useWindow(
  scene: Scene,
  drawn: Layout,
  selected: string | null,
  moved: (view: View, room: Size) => void,
): Window {
  const host = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const viewport = useRef<SVGGElement>(null);
  const camera = useRef<Camera | null>(null);
  const frame = useRef<Frame>("first");
  const travel = useRef<Travel | null>(null);
  const anchor = useRef<Anchor | null | undefined>(undefined);
  const sought = useRef<string | null>(null);
  const last = useRef<Scene | null>(null);
  const stands = useRef(drawn);
  const [room, setRoom] = useState<Size>({ width: 0, height: 0 });
  const [seen, setSeen] = useState<Sight>(() => sight(scene.layout.boxes, { x: 0, y: 0, k: 1 }, { width: 0, height: 0 }));
  const latest = useRef({ scene, room, seen, moved });
  useLayoutEffect(() => {
    latest.current = { scene, room, seen, moved };
  });

  const look = useCallback((view: View) => camera.current?.look(view), []);
  const view = useCallback((): View => camera.current?.view() ?? { x: 0, y: 0, k: 1 }, []);

  useLayoutEffect(() => {
    const [outer, surface] = [host.current, svg.current];
    if (!outer || !surface) return;
    const made = createCamera(surface, () => latest.current.room, (now, byHand) => {
      const { scene, room, seen, moved } = latest.current;
      if (byHand) [frame.current, travel.current] = ["none", null];
      viewport.current?.setAttribute("transform", `translate(${now.x},${now.y}) scale(${now.k})`);
      if (!travel.current && isStale(seen, scene.layout.boxes, now, room)) setSeen(sight(scene.layout.boxes, now, room));
      moved(now, room);
    });
    camera.current = made;
    const measure = (): void => setRoom({ width: outer.clientWidth, height: outer.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(outer);
    return () => {
      observer.disconnect();
      made.end();
    };
  }, []);

  /** Returns the first view, or that of the whole. */
  const arranged = useCallback((kind: Frame, layout: Layout, outer: Size): View => {
    if (kind === "first") return atFirst(layout, [...layout.boxes.values()], outer);
    return centred(whole(layout), outer, fitting(layout, outer));
  }, []);

  useLayoutEffect(() => {
    const { layout } = scene;
    if (!room.width || !room.height) return;
    const now = view();
    let to = now;
    const is = last.current === scene;
    if (is) {
      // The room changed, not the picture.
      if (frame.current !== "none") to = arranged(frame.current, layout, room);
      else if (fitting(layout, room) >= to.k) to = centred(whole(layout), room, to.k);
      const lit = frame.current === "whole" ? undefined : layout.boxes.get(selected ?? "");
      if (lit) to = showing(lit, room, to); // a pane that opens beside the picture does not hide it
    } else {
      const wanted = anchor.current === undefined && selected ? { name: selected, closely: false } : anchor.current;
      const before = last.current ? stands.current : null;
      const held = wanted ?? (frame.current === "none" && before ? middle(before, layout, now, room) : null);
      const kept = before && held ? holding(before, layout, held, now, room) : null;
      if (kept) frame.current = "none";
      else if (frame.current === "none") frame.current = "first";
      to = kept ?? arranged(frame.current, layout, room);
    }
    const goal = layout.boxes.get(sought.current ?? "");
    if (goal) {
      sought.current = null;
      if (!isInSight(goal, room, to)) to = centred(goal, room, Math.max(READABLE, to.k));
    }
    travel.current = drawn !== layout ? { from: now, to } : null;
    if (!travel.current) look(to);
    last.current = scene;
    anchor.current = undefined;
    setSeen(sight(layout.boxes, to, room));
    // The selection alone moves nothing.
  }, [scene, room, arranged, look, view]);

  useLayoutEffect(() => {
    stands.current = drawn;
  }, [drawn]);

  return useMemo((): Window => {
    const move = (to: View): void => {
      [frame.current, travel.current] = ["none", null];
      look(to);
    };
    return {
      host, svg, viewport, room, sight: seen, view, move,
      zoom(factor) {
        [frame.current, travel.current] = ["none", null];
        camera.current?.by(factor);
      },
      fit() {
        [frame.current, travel.current] = ["whole", null];
        look(arranged("whole", scene.layout, room));
      },
      bring(first, others) {
        const to = bringing(first, others, view(), room);
        if (to) look(to);
      },
      hold(held) {
        anchor.current = held;
        if (!held) frame.current = "first";
      },
      seek(name) {
        const there = scene.layout.boxes.get(name);
        if (!there) sought.current = name;
        else if (!isInSight(there, room, view())) move(centred(there, room, Math.max(READABLE, view().k)));
      },
      step(e) {
        if (!travel.current) return;
        const { from, to } = travel.current;
        if (e >= 1) travel.current = null;
        look({ x: mix(from.x, to.x, e), y: mix(from.y, to.y, e), k: mix(from.k, to.k, e) });
      },
    };
  }, [room, seen, scene, look, view, arranged]);
}

/** Returns the view in which the held box keeps its place, moved only where it would not be seen. */
function holding(before: Layout, after: Layout, held: Anchor, view: View, room: Size): View | null {
  const [was, is] = [place(before, held.name), place(after, held.name)];
  if (!was || !is) return null;
  const { x, y, k } = view;
  const kept = { x: x + (was.left - is.left) * k, y: y + (was.top - is.top) * k, k };
  return showing(held.closely && fitting(after, room) >= k ? whole(after) : is, room, kept);
}

/** Finds the box nearest to the window's middle, of those in both pictures. */
function middle(before: Layout, after: Layout, view: View, room: Size): Anchor | null {
  const [x, y] = [(room.width / 2 - view.x) / view.k, (room.height / 2 - view.y) / view.k];
  let [best, least] = ["", Infinity];
  for (const [name, { left, top, width, height }] of before.boxes) {
    const far = Math.hypot(left + width / 2 - x, top + height / 2 - y);
    if (far < least && after.boxes.has(name)) [best, least] = [name, far];
  }
  return best ? { name: best, closely: false } : null;
}

const mix = (from: number, to: number, e: number): number => from + (to - from) * e;

const place = (layout: Layout, name: string): Rectangle | undefined =>
  layout.boxes.get(name) ?? layout.grounds.get(name);

function bringing(first: Rectangle | null, others: readonly Rectangle[], view: View, room: Size): View | null {
  const wanted = first ? [first, ...others] : others;
  const [needed] = wanted;
  if (!needed) return null;
  const all = around(wanted);
  const k = fitting(all, room);
  if (k >= view.k) return showing(all, room, view);
  if (k >= READABLE) return centred(all, room, k);
  const seen = (inner: Rectangle): boolean => isInSight(inner, room, view);
  if (first === null ? wanted.some(seen) : seen(needed)) return null;
  return centred(needed, room, Math.max(READABLE, view.k));
}
