// The view as d3-zoom keeps it: moved by the reader's hand, or by the program.

import { select } from "d3-selection";
import { zoom, type ZoomBehavior, zoomIdentity } from "d3-zoom";
import type { Size, View } from "./geometry";

export interface Camera {
  view(): View;
  look(view: View): void;
  /** Closer by a factor, around the window's middle. */
  by(factor: number): void;
  end(): void;
}

export const CLOSEST = 6;
export const FARTHEST = 0.02;

/** Makes a camera for a window as large as `room` tells, which d3-zoom would have the page laid out for. `moved` hears every change; `byHand` where the reader dragged or turned the wheel. */
export function createCamera(
  svg: SVGSVGElement,
  room: () => Size,
  moved: (view: View, byHand: boolean) => void,
): Camera {
  let view: View = { x: 0, y: 0, k: 1 };
  const behavior: ZoomBehavior<SVGSVGElement, unknown> = zoom<SVGSVGElement, unknown>()
    .extent(() => [[0, 0], [room().width, room().height]])
    .scaleExtent([FARTHEST, CLOSEST])
    .filter((event: Event) => {
      if (event instanceof WheelEvent) return event.ctrlKey || event.metaKey; // else the page scrolls
      return !(event instanceof MouseEvent && event.button !== 0);
    })
    .on("zoom", (event: { transform: View; sourceEvent: unknown }) => {
      const { x, y, k } = event.transform;
      view = { x, y, k };
      moved(view, event.sourceEvent !== null);
    });
  const surface = select(svg).call(behavior).on("dblclick.zoom", null);
  return {
    view: () => view,
    look: ({ x, y, k }) => surface.call(behavior.transform, zoomIdentity.translate(x, y).scale(k)),
    by: (factor) => surface.call(behavior.scaleBy, factor),
    end: () => surface.on(".zoom", null),
  };
}
