// The whole picture, small, with the window's part marked; drawn where the window does not show all of it.

import { useEffect, useLayoutEffect, useRef } from "react";
import type { Rectangle, Size, View } from "../window/geometry";
import { paint, type Painting } from "./paint";
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

/** Pixels from the window's edge, and of its own frame. */
const [GAP, FRAME] = [8, 4];

/** Tells whether the small picture stands on the left: on the right it would hide one of these places, and on the left
 * none. */
export function goesLeft(places: readonly Rectangle[], small: Size, view: View, room: Size): boolean {
  const hides = (x: number): boolean => {
    const y = room.height - GAP - small.height - 2 * FRAME;
    const shown = { left: x - FRAME, top: y, width: small.width + 2 * FRAME, height: small.height + 2 * FRAME };
    return places.some((place) => meets(shown, onScreen(place, view)));
  };
  return hides(room.width - GAP - small.width - FRAME) && !hides(GAP + FRAME);
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
  /** Places that it hides only where it must. */
  readonly lit: readonly Rectangle[];
  readonly handle: React.MutableRefObject<Overview | null>;
  /** Hears the point of the picture that the reader wants in the middle. */
  readonly onLook: (x: number, y: number) => void;
}): JSX.Element {
  const { painting, room, lit, handle, onLook } = props;
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const { width, height } = painting.layout;
  const largest = Math.min(LARGEST, room.width * SHARE);
  const k = Math.min(largest / width, Math.min(largest, room.height * 0.4) / height);
  const size = { width: Math.round(width * k), height: Math.round(height * k) };

  useEffect(() => {
    const drawn = canvas.current;
    if (drawn && size.width > 0) paint(drawn, { ...painting, crowd: true, dim: false, apart: NONE }, { x: 0, y: 0, k }, size);
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
          host.current.classList.toggle("wbk-left", goesLeft(lit, size, view, { width: wide, height: tall }));
        }
        if (!frame.current) return;
        Object.assign(frame.current.style, {
          left: `${x * k}px`,
          top: `${y * k}px`,
          width: `${Math.max(4, (right - x) * k)}px`,
          height: `${Math.max(4, (bottom - y) * k)}px`,
          borderColor: css(painting.theme.accent),
        });
      },
    };
  }, [handle, painting, lit, width, height, k]);

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
    >
      <canvas ref={canvas} style={size} />
      <div className="wbk-minimap-frame" ref={frame} />
    </div>
  );
}

const NONE: ReadonlySet<string> = new Set();
