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
