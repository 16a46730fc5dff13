// The automatic recipe from the shown variant on.

import { useState } from "react";
import { useSelection, useValues, useWorkbench } from "../../model/hooks";
import type { Ask } from "../../model/asking";

export function Optimize(props: {
  ask: Ask;
  busy: boolean;
}): JSX.Element | null {
  const { current } = useWorkbench();
  const { status } = useValues();
  const { backend, sizes, dtype } = useSelection();
  const [objective, setObjective] = useState<"time" | "memory">("time");
  const [capacity, setCapacity] = useState("");
  if (status === "saved") return null;
  const bytes = Number(capacity) > 0 ? Math.floor(Number(capacity) * 1e6) : null;
  return (
    <form
      className="wbk-optimize"
      onSubmit={(event) => {
        event.preventDefault();
        const doing = "Looking for the best steps …";
        const run = { backend, sizes, dtype };
        props.ask({ type: "optimize", variant: current, objective, capacity: bytes, ...run }, doing);
      }}
    >
      <label className="wbk-field">
        <span>Optimize</span>
        <select
          value={objective}
          onChange={(event) => setObjective(event.target.value === "memory" ? "memory" : "time")}
        >
          <option value="time">time</option>
          <option value="memory">memory</option>
        </select>
      </label>
      <label className="wbk-field">
        <span>within</span>
        <input
          type="number"
          min="0"
          step="any"
          placeholder="any"
          aria-label="Device memory at most, in megabytes"
          value={capacity}
          onChange={(event) => setCapacity(event.target.value)}
        />
        <span>MB</span>
      </label>
      <button className="wbk-button" type="submit" disabled={props.busy || status !== "connected"} title="Take the automatic recipe, each step visible and undoable">
        Take steps
      </button>
    </form>
  );
}
