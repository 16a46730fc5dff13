// The whole picture, small, with the window's part marked; drawn where the window does not show all of it, in a corner
// without boxes. Where there is none, it is seen while the window moves.

import { useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { Rectangle, Size, View } from "../window/geometry";
import { type Painting, type Surface, surface } from "./paint";
import { meets, windowOf } from "../window/sight";
import { css } from "./theme";

/** The share of the picture in the window from which on the small one would tell nothing. */
const ENOUGH = 0.85;
/** The same of a window lower than this, in pixels, of which the small one hides more. */
const [LOW, ENOUGH_IN_LOW] = [360, 0.65];
/** The height of a window below which the small picture would be specks. */
const LOWEST = 130;
/** The most pixels of the small picture's width or height, and its greatest share of the window. */
const [LARGEST, SHARE] = [130, 0.22];

/** The fewest pixels of either: a picture of thousands of boxes in a row is a line. */
const LEAST = 4;

/** Pixels from the window's edge, and of its own frame. */
const [GAP, FRAME] = [8, 4];

/** Pixels that stay free around it: chips hang over the edge of a box. */
const CLEAR = 8;

/** Milliseconds for which it is seen after a move where it lies over boxes. */
const LINGERS = 1500;

export type Corner = "bottom right" | "bottom left" | "top right" | "top left";

const CORNERS: readonly Corner[] = ["bottom right", "bottom left", "top right", "top left"];

/** Returns the first corner where the small picture would hide none of these places; null without one. */
export function corner(places: Iterable<Rectangle>, small: Size, view: View, room: Size): Corner | null {
  const [width, height] = [small.width + 2 * FRAME, small.height + 2 * FRAME];
  const free = new Map(
    CORNERS.map((name): [Corner, Rectangle] => {
      const left = name.endsWith("right") ? room.width - GAP - width : GAP;
      return [name, { left, top: name.startsWith("bottom") ? room.height - GAP - height : GAP, width, height }];
    }),
  );
  for (const place of places) {
    const { left, top, width, height } = onScreen(place, view);
    const shown = { left: left - CLEAR, top: top - CLEAR, width: width + 2 * CLEAR, height: height + 2 * CLEAR };
    for (const [name, area] of free) if (meets(area, shown)) free.delete(name);
    if (!free.size) return null;
  }
  return CORNERS.find((name) => free.has(name)) ?? null;
}

const onScreen = ({ left, top, width, height }: Rectangle, { x, y, k }: View): Rectangle => ({
  left: x + left * k,
  top: y + top * k,
  width: width * k,
  height: height * k,
});

export interface Overview {
  /** Draws the frame of the window's part, or hides the whole. */
  show(view: View, room: Size): void;
}

export function Minimap(props: {
  readonly painting: Painting;
  readonly room: Size;
  /** Places that it hides only where it must, even as it is seen over boxes for a while. */
  readonly lit: readonly Rectangle[];
  readonly handle: React.MutableRefObject<Overview | null>;
  /** Hears the point of the picture that the reader wants in the middle. */
  readonly onLook: (x: number, y: number) => void;
}): JSX.Element {
  const { painting, room, lit, handle, onLook } = props;
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const ground = useRef<Surface | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const rests = useRest(host);
  const { width, height } = painting.layout;
  const largest = Math.min(LARGEST, room.width * SHARE);
  const k = Math.min(largest / width, Math.min(largest, room.height * 0.4) / height);
  const small = (side: number): number => Math.max(LEAST, Math.round(side * k));
  const size = { width: small(width), height: small(height) };

  useEffect(() => {
    ground.current ??= canvas.current && surface(canvas.current);
    if (k > 0) ground.current?.paint({ ...painting, crowd: true, dim: false, apart: NONE }, { x: 0, y: 0, k }, size);
  }, [painting, k, size.width, size.height]);

  // This comes before the picture is drawn, which asks for it.
  useLayoutEffect(() => {
    handle.current = {
      show(view, { width: wide, height: tall }) {
        const shown = windowOf(view, { width: wide, height: tall });
        const [x, y] = [Math.max(0, shown.left), Math.max(0, shown.top)];
        const [right, bottom] = [Math.min(width, shown.left + shown.width), Math.min(height, shown.top + shown.height)];
        const seen = Math.max(0, right - x) * Math.max(0, bottom - y);
        if (host.current) {
          const enough = tall < LOW ? ENOUGH_IN_LOW : ENOUGH;
          host.current.hidden = tall < LOWEST || seen > enough * width * height;
          const outer = { width: wide, height: tall };
          const clear = corner(painting.layout.boxes.values(), size, view, outer);
          const place = clear ?? corner(lit, size, view, outer) ?? "bottom right";
          host.current.classList.toggle("wbk-left", place.endsWith("left"));
          host.current.classList.toggle("wbk-top", place.startsWith("top"));
          rests.moved(clear === null, view);
        }
        if (!frame.current) return;
        Object.assign(frame.current.style, {
          left: `${x * k}px`,
          top: `${y * k}px`,
          width: `${Math.max(LEAST, (right - x) * k)}px`,
          height: `${Math.max(LEAST, (bottom - y) * k)}px`,
          borderColor: css(painting.theme.accent),
        });
      },
    };
  }, [handle, painting, lit, width, height, k, rests]);

  const look = (event: React.PointerEvent): void => {
    const place = canvas.current?.getBoundingClientRect();
    if (!place || !event.buttons) return;
    const within = (at: number, most: number): number => Math.min(most, Math.max(0, at / k));
    onLook(within(event.clientX - place.left, width), within(event.clientY - place.top, height));
  };
  return (
    <div
      className="wbk-minimap"
      ref={host}
      hidden
      aria-hidden="true"
      title="The whole picture: drag to move the window"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        look(event);
      }}
      onPointerMove={look}
      onPointerEnter={rests.hold}
      onPointerLeave={rests.leave}
    >
      <canvas ref={canvas} style={size} />
      <div className="wbk-minimap-frame" ref={frame} />
    </div>
  );
}

interface Rest {
  /** Hears the view, and whether it lies over boxes. */
  moved(over: boolean, view: View): void;
  /** Under the pointer it stays. */
  hold(): void;
  leave(): void;
}

/** Has it fade where it lies over boxes, some time after the view was moved last. */
function useRest(host: React.RefObject<HTMLElement>): Rest {
  const rest = useMemo(() => {
    let [timer, held, over, last] = [0, false, false, ""];
    const wait = (): void => {
      window.clearTimeout(timer);
      if (over && !held) timer = window.setTimeout(() => host.current?.classList.add("wbk-rests"), LINGERS);
    };
    return {
      moved(now: boolean, { x, y, k }: View): void {
        const at = `${x} ${y} ${k} ${now}`;
        if (at === last) return; // drawn anew in the same place, as when something is lit
        [over, last] = [now, at];
        host.current?.classList.remove("wbk-rests");
        wait();
      },
      hold(): void {
        held = true;
        window.clearTimeout(timer);
      },
      leave(): void {
        held = false;
        wait();
      },
      end: () => window.clearTimeout(timer),
    };
  }, [host]);
  useEffect(() => rest.end, [rest]);
  return rest;
}

const NONE: ReadonlySet<string> = new Set();
