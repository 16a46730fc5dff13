// The offer of a first program to who has none: put into the notebook, run, and shown round.

import { useState } from "react";
import { useSelection, useStore } from "../../model/hooks";
import type { InsertedCell } from "../../model/transports/transport";
import { startTour } from "../../tour/start";
import { FIRST_CELL } from "./first-cell";
import { useCellRun } from "./cell-run";

export function FirstProgram(): JSX.Element {
  const store = useStore();
  const { tour } = useSelection();
  const [cell, setCell] = useState<InsertedCell | null>(null);
  const { runs, failure, run } = useCellRun();
  const { insertCell } = store.transport;

  function press(): void {
    if (!insertCell) return;
    if (cell?.isThere()) void run(cell);
    else setCell(insertCell(FIRST_CELL));
  }

  function tell(): void {
    if (!insertCell) return;
    startTour(store); // it waits for the program
    const inserted = cell?.isThere() ? cell : insertCell(FIRST_CELL);
    setCell(inserted);
    void run(inserted);
  }

  return (
    <>
      <pre className="wbk-code">{FIRST_CELL}</pre>
      {insertCell && (
        <div className="wbk-banner-buttons">
          <button className="wbk-button wbk-primary" type="button" disabled={runs} onClick={press}>
            {runs ? "Running …" : cell ? "Run this cell" : "Insert this cell"}
          </button>
          <button className="wbk-button" type="button" disabled={runs} data-tour-start onClick={tell}>
            Run it and take the tour
          </button>
        </div>
      )}
      {tour?.open && !failure && <p role="status">The tour begins when the program is drawn.</p>}
      {failure && <p role="alert">{failure}</p>}
    </>
  );
}
