// The width of a chart.

import { type RefObject, useLayoutEffect, useState } from "react";

export function useWidth(host: RefObject<HTMLElement>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const look = (): void => setWidth(Math.floor(element.clientWidth));
    look();
    if (typeof ResizeObserver === "undefined") return undefined;
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [host]);
  return width;
}
