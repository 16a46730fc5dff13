// A box of the picture: a statement, or a closed scope.

import { memo } from "react";
import { DROP, type Rectangle } from "../../window/geometry";
import { type Chip, Chips } from "./chips";
import { rounded } from "./rounded";
import { shortened } from "./shortened";
import { counted, type Scene, scopeOf } from "../../layout/scene";
import type { Text } from "../../window/sight";

/** The content of a box and its style, wherever it stands. */
export interface Face {
  readonly first: string;
  readonly second: string;
  readonly short: string;
  readonly kind: string;
  readonly output: boolean;
  readonly spoken: string;
}

export function face(scene: Scene, name: string): Face {
  const inside = scene.inside.get(name) ?? [];
  const scope = scopeOf(name);
  const [node] = inside;
  if (scope || !node) {
    const title = scene.snapshot.scopes[scope?.[scope.length - 1] ?? ""]?.title ?? "";
    const spoken = `${(scope ?? []).join(" › ")}, closed scope`;
    return { first: title, second: counted(inside), short: title, kind: "scope closed", output: false, spoken };
  }
  return {
    first: node.box.first,
    second: node.box.second,
    short: node.box.short,
    kind: `statement ${node.kind}`,
    output: node.outputs.length > 0,
    spoken: `${node.title}, ${node.summary}`,
  };
}

interface BoxProps {
  readonly name: string;
  readonly face: Face;
  readonly place: Rectangle;
  readonly text: Text;
  /** The size of a name that stands alone, and of chips then; 0 where there are none. */
  readonly nameSize: number;
  readonly chipSize: number;
  /** Classes for its part in the selection, a search and the running program. */
  readonly state: string;
  readonly pressed: boolean;
  readonly tabbable: boolean;
  /** The ground's colour where an overlay gives one. */
  readonly ground: string | undefined;
  /** True if it differs from the parent variant. */
  readonly changed: boolean;
  /** The share of a run's samples taken here. */
  readonly share: string | undefined;
  readonly chips: readonly Chip[];
}

export const Box = memo(
  function Box(props: BoxProps): JSX.Element {
    const { name, face, place, text, nameSize, chipSize, state, pressed, tabbable, ground, changed, share, chips } = props;
    const tag = text === "both" ? 9 : text === "name" ? chipSize : 0;
    const hangs = tag > 0 && chips.length > 0;
    const { left, top, width, height } = place;
    const middle = { x: width / 2, textAnchor: "middle" } as const;
    return (
      <g
        className={`node ${face.kind}${state}`}
        data-name={name}
        transform={`translate(${left} ${top})`}
        tabIndex={tabbable ? 0 : -1}
        role="button"
        aria-label={face.spoken}
        aria-pressed={pressed}
      >
        {changed && <path className="wbk-change" d={rounded(-4, -4, width + 8, height + 8, 8)} />}
        <path className="wbk-ground" d={outline(face, width, height)} style={ground ? { fill: ground } : undefined} />
        {face.output && <path className="wbk-result" d={foot(width, height)} />}
        {text === "name" && (
          <text
            className="wbk-short"
            {...middle}
            y={(hangs ? chipsTop(height, tag) : height) / 2 + nameSize * 0.34}
            fontSize={nameSize}
          >
            {inShort(face.short, Math.floor((width - 4) / (0.6 * nameSize)))}
          </text>
        )}
        {text === "both" && (
          <>
            <text {...middle} y={height / 2 - (hangs ? 3.5 : 2)} fontSize={11}>
              {face.first}
            </text>
            <text {...middle} y={height / 2 + (hangs ? 7.5 : 10.5)} fontSize={9}>
              {face.second}
            </text>
          </>
        )}
        {hangs && <Chips chips={chips} width={width} edge={height + DROP} size={tag} />}
        {share !== undefined && <Share text={share} right={width} large={text !== "both"} />}
      </g>
    );
  },
  (one, other) =>
    (Object.keys(one) as (keyof BoxProps)[]).every((key) =>
      key === "place" ? isSame(one.place, other.place) : one[key] === other[key],
    ),
);

/** Returns where chips of a size begin, above which a name stands in the middle. */
const chipsTop = (height: number, size: number): number => height + DROP - (size + 4) / 2;

/** A closed scope's mark is the first to make room. */
const inShort = (name: string, length: number): string =>
  [...name].length <= length ? name : shortened(name.replace(/^▸ /, ""), length);

const isSame = (one: Rectangle, other: Rectangle): boolean =>
  one.left === other.left && one.top === other.top && one.width === other.width && one.height === other.height;

/** The share of time on the box's upper right corner. */
function Share({ text, right, large }: { text: string; right: number; large: boolean }): JSX.Element {
  const size = large ? 13 : 9;
  const width = text.length * size * 0.6 + 8;
  return (
    <g className="wbk-share" transform={`translate(${right - width + 8} ${-size - 2})`}>
      <path d={rounded(0, 0, width, size + 6, 4)} />
      <text x={width / 2} y={size + 0.5} fontSize={size} textAnchor="middle">
        {text}
      </text>
    </g>
  );
}

/** Returns the path of the thick line under a result of the program: within the box's own outline, and as round. */
function foot(width: number, height: number): string {
  return `M0,${height - 5}h${width}a5,5 0 0 1 -5,5h${10 - width}a5,5 0 0 1 -5,-5z`;
}

/** Returns the outline's path. A statement that calls out of the program has a component's plugs on its left. */
function outline({ kind }: Face, width: number, height: number): string {
  if (!kind.endsWith("external")) return rounded(0, 0, width, height, 5);
  const plug = (y: number): string => `M-4,${y}h9v5h-9z`;
  return `M0,0H${width}V${height}H0Z${plug(height / 2 - 9)}${plug(height / 2 + 4)}`;
}
