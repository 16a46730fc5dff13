// Time in the picture: one scene gliding into the next, and boxes that become elements a few at a time.

import { useEffect, useRef, useState } from "react";
import { between, eased, GLIDE, leaving } from "./glide";
import type { Rectangle } from "./geometry";
import type { Layout, Scene } from "../layout/scene";
import { SLICE } from "./sight";

/** The most boxes that glide: of more, every frame takes longer than the next may wait. */
const GLIDING = 150;

export interface Motion {
  readonly scene: Scene;
  /** The present place of everything. */
  readonly layout: Layout;
  /** The previous scene, while it glides. */
  readonly before: Scene | null;
  /** Boxes of the previous scene that are no more, on their way. */
  readonly gone: ReadonlyMap<string, Rectangle>;
}

interface Glide {
  readonly before: Scene | null;
  readonly after: Scene;
  readonly e: number;
}

/** Glides to a scene. `step` hears the progress, 0 to 1, before every drawing of it. */
export function useGlide(scene: Scene, step: (e: number) => void): Motion {
  const [glide, setGlide] = useState<Glide>({ before: null, after: scene, e: 1 });
  if (glide.after !== scene) setGlide(isStill(glide.after, scene) ? { before: null, after: scene, e: 1 } : next(glide, scene));

  const moves = glide.after === scene && glide.before !== null;
  useEffect(() => {
    if (!moves) {
      step(1);
      return;
    }
    let frame = 0;
    const start = performance.now();
    const draw = (): void => {
      const share = Math.min(1, (performance.now() - start) / GLIDE);
      step(eased(share));
      setGlide({ ...glide, before: share < 1 ? glide.before : null, e: eased(share) });
      if (share < 1) frame = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(frame);
    // A glide is drawn to its end from where it began; only another scene ends it sooner.
  }, [scene, step]);

  const { before, after, e } = glide;
  return {
    scene: after,
    layout: before ? between(before, after, e) : after.layout,
    before,
    gone: before ? leaving(before, after, e) : new Map(),
  };
}

/** Begins the next glide at the present place of everything. */
function next({ before, after, e }: Glide, scene: Scene): Glide {
  const layout = before ? between(before, after, e) : after.layout;
  return { before: { ...after, layout }, after: scene, e: 0 };
}

/** Tells whether a scene takes the place of another at once: for a reader who wants it so, or with many boxes. */
function isStill(before: Scene, after: Scene): boolean {
  const most = Math.max(before.layout.boxes.size, after.layout.boxes.size);
  return most > GLIDING || window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Returns the boxes of `wanted` that are there by now: present ones stay, the others come a slice a frame. */
export function useSlices(wanted: readonly string[]): ReadonlySet<string> {
  const [present, setPresent] = useState<ReadonlySet<string>>(() => new Set(wanted.slice(0, SLICE)));
  const latest = useRef(present);
  useEffect(() => {
    let frame = 0;
    const add = (): void => {
      const kept = wanted.filter((name) => latest.current.has(name));
      const more = wanted.filter((name) => !latest.current.has(name)).slice(0, SLICE);
      latest.current = new Set([...kept, ...more]);
      setPresent(latest.current);
      if (latest.current.size < wanted.length) frame = requestAnimationFrame(add);
    };
    add();
    return () => cancelAnimationFrame(frame);
  }, [wanted]);
  return present;
}
