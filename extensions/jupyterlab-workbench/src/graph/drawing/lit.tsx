// The arrows of the selection and of the box pointed at: lines beneath the boxes and their chips; above them what the
// keyboard and a screen reader reach, with the text.

import { letters } from "../window/geometry";
import { corners } from "./paint";
import { labelPlace } from "../window/pick";
import { type Arrow, markOf, type Layout, type Line, type Scene } from "../layout/scene";

/** The most arrows of a box that are elements. */
const MOST = 300;

interface Lit {
  readonly scene: Scene;
  readonly layout: Layout;
  readonly touched: ReadonlySet<string>;
}

/** Lists the lit arrows with their lines, as many as are elements. */
function lines({ scene, layout, touched }: Lit): readonly { readonly arrow: Arrow; readonly line: Line }[] {
  const shown = touched.size ? scene.arrows.filter((arrow) => touched.has(arrow.id)).slice(0, MOST) : [];
  return shown.flatMap((arrow) => {
    const line = layout.lines.get(arrow.id);
    return line ? [{ arrow, line }] : [];
  });
}

export function LitLines(lit: Lit): JSX.Element {
  return (
    <g aria-hidden="true">
      {lines(lit).map(({ arrow, line }) => (
        <LitLine key={arrow.id} arrow={arrow} line={line} />
      ))}
    </g>
  );
}

/** `scale` is that at which the picture is seen. */
export function LitArrows(props: Lit & { readonly scale: number }): JSX.Element {
  return (
    <>
      {lines(props).map(({ arrow, line }) => (
        <LitArrow key={arrow.id} scene={props.scene} arrow={arrow} line={line} scale={props.scale} />
      ))}
    </>
  );
}

export function LitLine({ arrow, line }: { arrow: Arrow; line: Line }): JSX.Element {
  return (
    <g className={`edge ${kindOf(arrow)}`}>
      <path d={path(line)} />
      <polygon points={corners(line).map((corner) => corner.join(",")).join(" ")} />
    </g>
  );
}

export function LitArrow(props: { scene: Scene; arrow: Arrow; line: Line; scale: number }): JSX.Element {
  const { scene, arrow, line, scale } = props;
  const size = letters(scale);
  const [x, y] = labelPlace(line);
  return (
    <g
      className={`edge wbk-touched ${kindOf(arrow)}`}
      data-name={arrow.id}
      tabIndex={0}
      role="img"
      aria-label={spoken(scene, arrow)}
    >
      <path d={path(line)} />
      {size > 0 && (
        <text x={x} y={y + size / 3} fontSize={size} textAnchor="middle">
          {markOf(arrow)}
        </text>
      )}
    </g>
  );
}

const kindOf = (arrow: Arrow): string => (arrow.carried ? "carried" : "flow");

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
