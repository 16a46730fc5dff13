// The whole picture as elements, for export: every box with both lines of its text and every arrow, seen or not.

import { Box, face } from "./boxes/box";
import { type Chip, chips } from "./boxes/chips";
import { Grounds, Names } from "./boxes/grounds";
import { LitArrow, LitLine } from "./lit";
import { type Colouring, groundOf } from "./overlay";
import { type Scene, scopeOf } from "../layout/scene";
import type { Theme } from "./theme";

export function Sheet(props: { scene: Scene; theme: Theme; colouring: Colouring }): JSX.Element {
  const { scene, theme, colouring } = props;
  const { layout } = scene;
  return (
    <g className="wbk-viewport">
      <Grounds layout={layout} />
      {scene.arrows.map((arrow) => {
        const line = layout.lines.get(arrow.id);
        return line && <LitLine key={arrow.id} arrow={arrow} line={line} />;
      })}
      {[...layout.boxes].map(([name, place]) => (
          <Box
            key={name}
            name={name}
            face={face(scene, name)}
            place={place}
            text="both"
            nameSize={0}
            chipSize={0}
            state=""
            pressed={false}
            tabbable={false}
            ground={groundOf(colouring, name, theme)}
            changed={false}
            share={undefined}
            chips={chipsOf(scene, name)}
          />
      ))}
      {scene.arrows.map((arrow) => {
        const line = layout.lines.get(arrow.id);
        return line && <LitArrow key={arrow.id} scene={scene} arrow={arrow} line={line} scale={1} />;
      })}
      <Names layout={layout} scale={1} />
    </g>
  );
}

function chipsOf(scene: Scene, name: string): readonly Chip[] {
  const [node] = scene.inside.get(name) ?? [];
  return node && !scopeOf(name) ? chips(scene.snapshot, node, null) : [];
}
