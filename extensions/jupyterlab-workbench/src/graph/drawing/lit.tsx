// The arrows of the selection and of the box pointed at: elements above the boxes, for keyboard and screen reader.

import { letters } from "../window/geometry";
import { corners } from "./paint";
import { labelPlace } from "../window/pick";
import { type Arrow, markOf, type Layout, type Line, type Scene } from "../layout/scene";

/** The most arrows of a box that are elements. */
const MOST = 300;

export function LitArrows(props: {
  readonly scene: Scene;
  readonly layout: Layout;
  readonly touched: ReadonlySet<string>;
  /** The scale at which the picture is seen. */
  readonly scale: number;
}): JSX.Element {
  const { scene, layout, touched, scale } = props;
  const shown = touched.size ? scene.arrows.filter((arrow) => touched.has(arrow.id)).slice(0, MOST) : [];
  return (
    <>
      {shown.map((arrow) => {
        const line = layout.lines.get(arrow.id);
        return line && <LitArrow key={arrow.id} scene={scene} arrow={arrow} line={line} scale={scale} />;
      })}
    </>
  );
}

export function LitArrow(props: { scene: Scene; arrow: Arrow; line: Line; scale: number }): JSX.Element {
  const { scene, arrow, line, scale } = props;
  const size = letters(scale);
  const [x, y] = labelPlace(line);
  const head = corners(line).map((corner) => corner.join(",")).join(" ");
  return (
    <g
      className={`edge wbk-touched ${arrow.carried ? "carried" : "flow"}`}
      data-name={arrow.id}
      tabIndex={0}
      role="img"
      aria-label={spoken(scene, arrow)}
    >
      <path d={path(line)} />
      <polygon points={head} />
      {size > 0 && (
        <text x={x} y={y + size / 3} fontSize={size} textAnchor="middle">
          {markOf(arrow)}
        </text>
      )}
    </g>
  );
}

function path({ points, tip }: Line): string {
  const [x, y, ...rest] = points;
  return `M${x},${y}C${rest.join(",")}L${tip[0]},${tip[1]}`;
}

/** Returns a screen reader's text for an arrow: its relations, exactly. */
function spoken(scene: Scene, arrow: Arrow): string {
  const said = arrow.edges.flatMap((position) => {
    const edge = scene.snapshot.edges[position];
    return edge ? `${edge.source} to ${edge.target} through ${edge.array}: ${edge.relation}` : [];
  });
  return [...said, ...(arrow.carried ? ["carried by a loop"] : [])].join("; ");
}
