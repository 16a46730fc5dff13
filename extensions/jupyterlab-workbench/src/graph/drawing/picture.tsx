// The drawn picture: arrows painted, boxes as elements over them, the selection and the running program lit.

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { Selection } from "../../model/selection";
import { Box, type Face, face } from "./boxes/box";
import { type Chip, chips } from "./boxes/chips";
import type { Changes } from "../diff";
import { chipSize, nameSize, type Rectangle, type Size, type View } from "../window/geometry";
import { Grounds, Names } from "./boxes/grounds";
import { LitArrows, LitLines } from "./lit";
import { type Light, light, stateOf } from "./light";
import { Minimap, type Overview } from "./minimap";
import { type Colouring, groundOf } from "./overlay";
import { type Painting, type Surface, surface } from "./paint";
import { type Scene, scopeOf } from "../layout/scene";
import { type Colour, mixed, type Theme } from "./theme";
import { Tooltip } from "../tooltip";
import { type Hands, useHands } from "../window/use-hands";
import { useGlide, useSlices } from "../window/use-motion";
import { usePointed } from "../window/use-pointed";
import { useWindow, type Window } from "../window/use-window";

export interface PictureProps {
  readonly scene: Scene;
  readonly selection: Selection;
  readonly theme: Theme;
  readonly changes: Changes | null;
  readonly colouring: Colouring;
  /** Statements found by a search; null without a search. */
  readonly matches: ReadonlySet<string> | null;
  /** Statements that run now, and the share of time of each box, in words. */
  readonly now: ReadonlySet<string>;
  readonly shares: ReadonlyMap<string, string>;
  readonly hands: Hands;
  /** Gets the window, for the tools above. */
  readonly handle: React.MutableRefObject<Window | null>;
}

const NOBODY: readonly string[] = [];
const NO_CHIPS: readonly Chip[] = [];

export function Picture(props: PictureProps): JSX.Element {
  const { selection, theme, changes, colouring, matches, now, shares, hands, handle } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const overview = useRef<Overview | null>(null);
  const ground = useRef<Surface | null>(null);
  const painting = useRef<Painting | null>(null);
  const step = useRef<(e: number) => void>(() => undefined);
  const { scene, layout, before, gone } = useGlide(props.scene, useCallback((e: number) => step.current(e), []));
  const pointing = usePointed();
  const lit = useMemo(
    () => light(scene, selection, matches, pointing.over?.kind === "arrow" ? pointing.over.id : null),
    [scene, selection, matches, pointing.over],
  );

  // What changes together is painted once, when all of it has changed.
  const due = useRef<readonly [View, Size] | null>(null);
  const seen = useRef<View | null>(null);
  const { say } = pointing;
  const draw = useCallback((view: View, room: Size) => {
    if (!due.current) queueMicrotask(paint);
    due.current = [view, room];
    const { x, y, k } = seen.current ?? view;
    if (x !== view.x || y !== view.y || k !== view.k) say(null); // what it stood beside is elsewhere now
    seen.current = view;
    function paint(): void {
      if (!due.current) return;
      ground.current ??= canvas.current && surface(canvas.current);
      if (painting.current) ground.current?.paint(painting.current, ...due.current);
      overview.current?.show(...due.current);
      due.current = null;
    }
  }, [say]);
  const window = useWindow(scene, layout, lit.first, draw);
  step.current = window.step;
  useLayoutEffect(() => {
    handle.current = window;
  });

  const { room, sight } = window;
  const colours = useMemo(() => paints(scene, theme, colouring, lit), [scene, theme, colouring, lit]);
  const painted = useMemo(
    (): Painting => ({
      layout, arrows: scene.arrows, theme, colours, apart: lit.touched, crowd: sight.crowd, dim: lit.dim,
    }),
    [layout, scene, theme, colours, lit, sight.crowd],
  );
  useLayoutEffect(() => {
    painting.current = painted;
    if (room.width) draw(window.view(), room);
  }, [painted, room, draw, window]);

  useEffect(() => {
    if (matches) window.bring(null, places(scene, matches));
    // It follows a change of the search only; the reader may look elsewhere afterwards.
  }, [matches]);

  const shining = useMemo(
    () => [...lit.selected, ...(lit.matches ?? [])].flatMap((name) => layout.boxes.get(name) ?? []),
    [lit, layout],
  );
  const hand = useHands({ scene, window, pointing, hands, selected: lit.first });
  const present = useSlices(sight.boxes);
  const drawn = useMemo(
    () => elements(scene, sight.boxes, present, [hand.roving, ...lit.near]),
    [scene, sight.boxes, present, hand.roving, lit.near],
  );
  const lost = useMemo(() => new Set(changes?.gone.map((node) => node.id)), [changes]);
  const faces = useMemo(() => new Map<string, Face>(), [scene]);
  const marked = useMemo(() => new Map<string, readonly Chip[]>(), [scene, changes]);

  function box(name: string): JSX.Element | null {
    const place = layout.boxes.get(name);
    if (!place) return null;
    const known = faces.get(name) ?? face(scene, name);
    faces.set(name, known);
    const nodes = scene.inside.get(name) ?? [];
    const [alone] = scopeOf(name) ? [] : nodes;
    const own = marked.get(name) ?? (alone ? chips(scene.snapshot, alone, changes) : NO_CHIPS);
    marked.set(name, own);
    const enters = before !== null && !before.layout.boxes.has(name);
    const isLost = nodes.length > 0 && nodes.every((node) => lost.has(node.id));
    const runs = now.size > 0 && nodes.some((node) => now.has(node.id));
    return (
      <Box
        key={name}
        name={name}
        face={known}
        place={place}
        text={sight.text}
        nameSize={nameSize(sight.scale)}
        chipSize={chipSize(sight.scale)}
        state={stateOf(lit, name) + (enters ? " wbk-enter" : "") + (isLost ? " wbk-lost" : "") + (runs ? " wbk-now" : "")}
        pressed={lit.selected.has(name)}
        tabbable={hand.roving === name}
        ground={groundOf(colouring, name, theme)}
        changed={nodes.some((node) => changes?.changed.has(node.id))}
        share={shares.get(name)}
        chips={own}
      />
    );
  }

  return (
    <div className="wbk-graph" ref={window.host}>
      <canvas className="wbk-canvas" ref={canvas} aria-hidden="true" />
      <svg
        className={`wbk-svg${sight.text === "both" ? "" : sight.text === "name" ? " wbk-far" : " wbk-far wbk-specks"}${lit.classes}`}
        ref={window.svg}
        role="group"
        tabIndex={-1}
        aria-label={`Dependence graph of ${scene.snapshot.name}`}
        {...hand.handlers}
      >
        <g className="wbk-viewport" ref={window.viewport}>
          <Grounds layout={layout} />
          {[...gone].map(([name, place]) => (
            <g key={name} className="wbk-leave" transform={`translate(${place.left} ${place.top})`}>
              <rect width={place.width} height={place.height} rx={5} />
            </g>
          ))}
          <LitLines scene={scene} layout={layout} touched={lit.touched} />
          {drawn.map(box)}
          <LitArrows scene={scene} layout={layout} touched={lit.touched} scale={sight.scale} />
          <Names layout={layout} scale={sight.scale} />
        </g>
      </svg>
      <Minimap
        painting={painted}
        room={room}
        lit={shining}
        handle={overview}
        onLook={(x, y) => window.move(centredAt(x, y, window))}
      />
      {pointing.said && (
        <Tooltip
          pointed={pointing.said}
          scene={scene}
          room={room}
          changes={changes}
          words={colouring.words.get(pointing.said.id)}
          onEnter={pointing.keep}
          onLeave={() => pointing.point(null)}
        />
      )}
    </div>
  );
}

/** Returns the boxes that are elements, in the picture's order: those in sight that are there by now, and all lit
 * ones. */
function elements(
  scene: Scene,
  wanted: readonly string[],
  present: ReadonlySet<string>,
  lit: readonly (string | null)[],
): readonly string[] {
  const drawn = new Set([...wanted.filter((name) => present.has(name)), ...lit]);
  return drawn.size ? [...scene.layout.boxes.keys()].filter((name) => drawn.has(name)) : NOBODY;
}

/** Returns the ground and the line of a painted box, in stronger colours than an element's, as there are no names. */
function paints(
  scene: Scene,
  theme: Theme,
  colouring: Colouring,
  lit: Light,
): (name: string) => readonly [Colour, Colour] {
  return (name) => {
    const level = colouring.byKind ? undefined : (colouring.levels.get(name) ?? 0);
    const kind = name.startsWith("n:") ? scene.inside.get(name)?.[0]?.kind : undefined;
    const hue = lit.selected.has(name) || lit.matches?.has(name) ? theme.accent : kind ? theme.kinds[kind] : theme.faint;
    if (level !== undefined) return [mixed(theme.back, level < 0 ? theme.cool : theme.heat, Math.abs(level) * 0.72), hue];
    return [mixed(theme.back, hue, lit.selected.has(name) ? 0.9 : 0.35), hue];
  };
}

function places(scene: Scene, ids: ReadonlySet<string>): Rectangle[] {
  const names = new Set([...ids].map((id) => scene.boxes.get(id) ?? ""));
  return [...names].flatMap((name) => scene.layout.boxes.get(name) ?? []);
}

function centredAt(x: number, y: number, window: Window): View {
  const { k } = window.view();
  return { x: window.room.width / 2 - x * k, y: window.room.height / 2 - y * k, k };
}
