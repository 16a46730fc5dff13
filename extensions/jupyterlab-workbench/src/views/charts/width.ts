// The width of a chart, and the height of the pane that it is in.

import { type RefObject, useLayoutEffect, useState } from "react";

export function useWidth(host: RefObject<HTMLElement>): number {
  return useSize(host, itself, "clientWidth");
}

export function usePaneHeight(host: RefObject<HTMLElement>): number {
  return useSize(host, paneOf, "clientHeight");
}

const itself = (element: HTMLElement): HTMLElement => element;
const paneOf = (element: HTMLElement): HTMLElement => element.closest<HTMLElement>(".wbk-side") ?? element;

function useSize(
  host: RefObject<HTMLElement>,
  of: (element: HTMLElement) => HTMLElement,
  side: "clientWidth" | "clientHeight",
): number {
  const [size, setSize] = useState(0);
  useLayoutEffect(() => {
    const element = host.current && of(host.current);
    if (!element) return undefined;
    const look = (): void => setSize(Math.floor(element[side]));
    look();
    if (typeof ResizeObserver === "undefined") return undefined;
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [host, of, side]);
  return size;
}
