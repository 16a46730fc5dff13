// A small picture of a program beside another view. It is moved, zoomed and opened like the large one, and reports
// clicks.

import { useMemo, useRef, useState } from "react";
import { key } from "../../model/scopes";
import { INITIAL, type Path } from "../../model/selection";
import type { Snapshot } from "../../protocol";
import type { Changes } from "../diff";
import { colouring } from "./overlay";
import { Picture } from "./picture";
import { scopeOf, statementOf } from "../layout/scene";
import type { Hands } from "../window/use-hands";
import { useEngine } from "../layout/use-engine";
import { useScene } from "../layout/use-scene";
import { useTheme } from "./use-theme";
import type { Window } from "../window/use-window";

const NOTHING = { ids: new Set<string>(), shares: new Map<string, string>() };
const BY_KIND = colouring("kind", null, null, null, null);

export function SmallGraph(props: {
  snapshot: Snapshot;
  changes: Changes;
  /** Hears which statement is clicked. */
  choose: (statement: string) => void;
  legend: React.ReactNode;
}): JSX.Element {
  const { snapshot, changes, choose, legend } = props;
  const host = useRef<HTMLDivElement>(null);
  const window = useRef<Window | null>(null);
  const theme = useTheme(host);
  const drawing = useScene(snapshot, null, useEngine(true));
  const [chosen, setChosen] = useState<{ statement: string | null; scope: Path | null }>({ statement: null, scope: null });
  const selection = useMemo(
    () => ({ ...INITIAL, statements: chosen.statement === null ? [] : [chosen.statement], scope: chosen.scope }),
    [chosen],
  );
  const hands = useMemo(
    (): Hands => ({
      select(name) {
        const statement = name === null ? null : statementOf(name);
        setChosen({ statement, scope: name === null ? null : scopeOf(name) });
        if (statement !== null) choose(statement);
      },
      toggle(scope) {
        setChosen((before) => (before.scope && key(before.scope) === key(scope) ? { ...before, scope: null } : before));
        drawing.toggle(scope);
      },
    }),
    [drawing, choose],
  );
  return (
    <>
      <div className="wbk-small-graph" ref={host} aria-busy={drawing.busy}>
        {drawing.scene && theme ? (
          <Picture
            scene={drawing.scene}
            selection={selection}
            theme={theme}
            changes={changes}
            colouring={BY_KIND}
            matches={null}
            now={NOTHING.ids}
            shares={NOTHING.shares}
            hands={hands}
            handle={window}
          />
        ) : (
          <p className="wbk-hint wbk-waiting" role="status">
            Drawing …
          </p>
        )}
        {drawing.remark && <p className="wbk-hint">{drawing.remark}</p>}
      </div>
      <div className="wbk-small-foot">
        <p className="wbk-legend-line">{legend}</p>
        <div className="wbk-buttons">
          <button className="wbk-button" type="button" aria-label="Zoom out" title="Zoom out" onClick={() => window.current?.zoom(1 / 1.3)}>
            −
          </button>
          <button className="wbk-button" type="button" aria-label="Zoom in" title="Zoom in" onClick={() => window.current?.zoom(1.3)}>
            +
          </button>
          <button className="wbk-button" type="button" title="All of it" onClick={() => window.current?.fit()}>
            Fit
          </button>
        </div>
      </div>
    </>
  );
}
