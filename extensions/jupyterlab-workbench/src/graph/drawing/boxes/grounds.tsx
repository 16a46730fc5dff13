// Open scopes: their grounds under the boxes, their names above.

import { memo } from "react";
import { rounded } from "./rounded";
import { shortened } from "./shortened";
import type { Rectangle } from "../../window/geometry";
import { type Layout, scopeOf } from "../../layout/scene";

/** Points of a scope's name: at full size, growing from afar up to the most. */
const [SIZE, LARGEST] = [11, 90];

export const Grounds = memo(function Grounds({ layout }: { layout: Layout }): JSX.Element {
  return (
    <>
      {[...layout.grounds].map(([name, { left, top, width, height }]) => (
        <g key={name} className="cluster" data-name={name}>
          <desc>{scopeOf(name)?.at(-1)}</desc>
          <path d={rounded(left, top, width, height, 7)} />
        </g>
      ))}
    </>
  );
});

export const Names = memo(function Names({ layout, scale }: { layout: Layout; scale: number }): JSX.Element {
  return <>{[...layout.grounds].map(([name, place]) => header(name, place, scale))}</>;
});

function header(name: string, { left, top, width }: Rectangle, scale: number): JSX.Element | null {
  const path = scopeOf(name) ?? [];
  const deep = path.length > 1;
  const size = Math.min(LARGEST, Math.max(SIZE, SIZE / scale)) * (deep && scale < 1 ? 0.9 : 1);
  const text = shortened(path[path.length - 1] ?? "", Math.min(34, Math.floor((width - 10) / (0.6 * size))));
  if (!text) return null;
  return (
    <g key={name} className="cluster wbk-scope-name" data-name={name}>
      <text x={left + 7} y={top + 14} fontSize={size} strokeWidth={size / 5}>
        <title>{`${path.join(" › ")} – click the name to close`}</title>
        {text}
      </text>
    </g>
  );
}
