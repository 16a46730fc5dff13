// The search for the automatic recipe from the shown variant on. Its progress is shown by the frame.

import { useState } from "react";
import { optimize, perform } from "../../frame/actions";
import { useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";

export function Optimize(): JSX.Element | null {
  const store = useStore();
  const { measuring } = useWorkbench();
  const { status } = useValues();
  const { objective, capacity } = useSelection();
  const [asked, setAsked] = useState(false);
  if (status === "saved") return null;
  const bytes = Number(capacity) > 0 ? Math.floor(Number(capacity) * 1e6) : null;
  return (
    <form
      className="wbk-optimize"
      onSubmit={(event) => {
        event.preventDefault();
        setAsked(true);
        void perform(store, () => optimize(store, objective, bytes)).finally(() => setAsked(false));
      }}
    >
      <label className="wbk-field">
        <span>Optimize</span>
        <select
          value={objective}
          onChange={(event) => store.select({ objective: event.target.value === "memory" ? "memory" : "time" })}
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
          onChange={(event) => store.select({ capacity: event.target.value })}
        />
        <span>MB</span>
      </label>
      <button
        className="wbk-button"
        type="submit"
        disabled={asked || measuring !== null || status !== "connected"}
        title="Take the automatic recipe, each step visible and undoable"
      >
        {asked || measuring?.what === "search" ? "Looking …" : "Take steps"}
      </button>
    </form>
  );
}
