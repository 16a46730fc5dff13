// The run of a cell that was put into the notebook from here.

import { useState } from "react";
import type { InsertedCell } from "../../model/transports/transport";

export const ENDED_EARLY = "A cell did not run to its end: what went wrong stands below it in the notebook.";

export interface CellRun {
  readonly runs: boolean;
  /** Why the last run ended early; empty where it did not. */
  readonly failure: string;
  run(cell: InsertedCell): Promise<void>;
  /** Takes the failure back, once it may have been mended. */
  forget(): void;
}

export function useCellRun(): CellRun {
  const [runs, setRuns] = useState(false);
  const [failure, setFailure] = useState("");
  return {
    runs,
    failure,
    forget: () => setFailure(""),
    async run(cell) {
      setRuns(true);
      setFailure("");
      const ended = await cell.run();
      setRuns(false);
      if (!ended) setFailure(ENDED_EARLY);
    },
  };
}
