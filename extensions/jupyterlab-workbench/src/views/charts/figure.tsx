// A chart of Observable Plot as a React component.

import * as Plot from "@observablehq/plot";
import { useLayoutEffect, useRef } from "react";
import { useWidth } from "./width";

/** `draw` gets the width in pixels; it must be the same function as long as it draws the same. */
export function Figure(props: { draw: (width: number) => Plot.PlotOptions; label: string }): JSX.Element {
  const { draw, label } = props;
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  useLayoutEffect(() => {
    if (!host.current || width === 0) return undefined;
    const style = { background: "none", color: "var(--wbk-text)", fontFamily: "inherit", fontSize: "11px", overflow: "visible" };
    const made = Plot.plot({ width, style, ariaLabel: label, ...draw(width) });
    host.current.append(made);
    return () => made.remove();
  }, [draw, label, width]);
  return <div className="wbk-figure" ref={host} />;
}

/** Returns the unit in which so many seconds are a readable number. */
export function timeUnit(seconds: number): { readonly unit: string; readonly factor: number } {
  if (seconds >= 1) return { unit: "s", factor: 1 };
  return seconds >= 1e-3 ? { unit: "ms", factor: 1e3 } : { unit: "µs", factor: 1e6 };
}

export function byteUnit(bytes: number): { readonly unit: string; readonly factor: number } {
  if (bytes >= 1e9) return { unit: "GB", factor: 1e-9 };
  if (bytes >= 1e6) return { unit: "MB", factor: 1e-6 };
  return bytes >= 1e3 ? { unit: "kB", factor: 1e-3 } : { unit: "B", factor: 1 };
}

