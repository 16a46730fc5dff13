// The text about a box or an arrow with the pointer or the focus; it can be read and copied.

import { useLayoutEffect, useRef } from "react";
import type { Node } from "../protocol";
import type { Changes } from "./diff";
import type { Size } from "./window/geometry";
import { type Arrow, type Scene, scopeOf } from "./layout/scene";

/** The most relations of an arrow that are written out. */
const MOST = 6;

export interface Pointed {
  readonly kind: "box" | "arrow";
  readonly id: string;
  /** Its place in the window, in pixels: the text stands beside it. */
  readonly x: number;
  readonly y: number;
}

export function Tooltip(props: {
  readonly pointed: Pointed;
  readonly scene: Scene;
  readonly room: Size;
  readonly changes: Changes | null;
  /** The overlay's number for the box, in words. */
  readonly words: string | undefined;
  readonly onEnter: () => void;
  readonly onLeave: () => void;
}): JSX.Element | null {
  const { pointed, scene, room, onEnter, onLeave } = props;
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const made = host.current;
    if (!made) return;
    const { offsetWidth: width, offsetHeight: height } = made;
    const below = pointed.y + 14 + height <= room.height;
    made.style.left = `${Math.max(4, Math.min(room.width - width - 4, pointed.x + 10))}px`;
    made.style.top = `${Math.max(4, below ? pointed.y + 14 : pointed.y - height - 10)}px`;
  });
  const arrow = scene.arrows.find((one) => one.id === pointed.id);
  const [node] = scene.inside.get(pointed.id) ?? [];
  const scope = scopeOf(pointed.id);
  return (
    <div className="wbk-tooltip" role="tooltip" ref={host} onPointerEnter={onEnter} onPointerLeave={onLeave}>
      {pointed.kind === "arrow" && arrow && <ArrowText scene={scene} arrow={arrow} />}
      {pointed.kind === "box" && scope && <ScopeText {...props} path={scope} />}
      {pointed.kind === "box" && !scope && node && <StatementText {...props} node={node} />}
    </div>
  );
}

function ArrowText({ scene, arrow }: { scene: Scene; arrow: Arrow }): JSX.Element {
  const edges = arrow.edges.flatMap((position) => scene.snapshot.edges[position] ?? []);
  return (
    <>
      {edges.slice(0, MOST).map((edge, position) => (
        <div className="wbk-said" key={position}>
          <b>
            {edge.source} → {edge.target}
          </b>
          <span>
            through {edge.array}
            {edge.label && ` at ${edge.label}`}
            {edge.carried && <span className="wbk-carried"> · carried by a loop</span>}
          </span>
          <code>{edge.relation}</code>
        </div>
      ))}
      {edges.length > MOST && <p>and {edges.length - MOST} more</p>}
    </>
  );
}

function StatementText(props: { scene: Scene; node: Node; changes: Changes | null; words: string | undefined }): JSX.Element {
  const { scene, node, changes, words } = props;
  const loops = node.loops.map((position) => scene.snapshot.loops[position]?.text ?? "");
  const changed = changes?.changed.get(node.id);
  return (
    <div className="wbk-said">
      <b>{node.title}</b>
      <code>{node.equation}</code>
      {loops.length > 0 && <span>{loops.join(" › ")}</span>}
      {node.kept.length > 0 && <span>kept of {node.array}: {node.kept.join(", ")}</span>}
      {words && <span>{words}</span>}
      {changed && <span>changed by the step: {changed.join(", ")}</span>}
      {changes?.gone.some((one) => one.id === node.id) && <span>gone after the step</span>}
      {node.line && (
        <span>
          {node.line.place}: <code className="wbk-inline">{node.line.text.trim()}</code>
        </span>
      )}
    </div>
  );
}

function ScopeText(props: {
  scene: Scene;
  pointed: Pointed;
  path: readonly string[];
  changes: Changes | null;
  words: string | undefined;
}): JSX.Element {
  const inside = props.scene.inside.get(props.pointed.id) ?? [];
  const changed = inside.filter((node) => props.changes?.changed.has(node.id)).length;
  return (
    <div className="wbk-said">
      <b>{props.path.join(" › ")}</b>
      <span>
        {inside.length === 1 ? "1 statement" : `${inside.length} statements`} · double click opens
      </span>
      {props.words && <span>{props.words}</span>}
      {changed > 0 && <span>{changed} of them changed by the step</span>}
    </div>
  );
}
