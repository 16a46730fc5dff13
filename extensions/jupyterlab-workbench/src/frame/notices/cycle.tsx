// A drawn cycle: its instances one below the other, an arrow from each to the one that it needs, and one from the last
// back to the first.

import { useState } from "react";
import type { CycleView, LineView } from "../../protocol";

/** The most instances drawn of a long cycle, first and last ones, until all are asked for. */
const MOST = 6;

/** `line` draws a line of the user's. */
export function Cycle(props: { cycle: CycleView; line: (line: LineView) => JSX.Element }): JSX.Element {
  const { instances } = props.cycle;
  const [whole, setWhole] = useState(instances.length <= MOST);
  const [first, last] = whole ? [instances, []] : [instances.slice(0, MOST / 2), instances.slice(-MOST / 2)];
  const left = instances.length - first.length - last.length;
  const name = instances[0]?.text ?? "";
  return (
    <div className="wbk-cycle" role="group" aria-label={`A cycle: ${name} needs itself`}>
      <ol>
        {first.map((one, position) => (
          <Instance key={position} {...one} draw={props.line} />
        ))}
        {left > 0 && (
          <li>
            <button className="wbk-button wbk-link" type="button" onClick={() => setWhole(true)}>
              {left} more between
            </button>
          </li>
        )}
        {last.map((one, position) => (
          <Instance key={position} {...one} draw={props.line} />
        ))}
      </ol>
    </div>
  );
}

function Instance(props: { text: string; line: LineView | null; draw: (line: LineView) => JSX.Element }): JSX.Element {
  const { text, line, draw } = props;
  return (
    <li>
      <code className="wbk-instance">{text}</code>
      {line && draw(line)}
    </li>
  );
}
