// Where the running program is: its loops with how far they are.

import type { Running } from "../protocol";

export function RunningLine({ running }: { running: Running }): JSX.Element {
  return (
    <p className="wbk-running" role="status" aria-live="off">
      <span className="wbk-running-sign" aria-hidden="true" />
      <span>running, {running.seconds.toFixed(1)} s</span>
      {running.loops.map(([name, value, count]) => (
        <span key={name} className="wbk-running-loop">
          <code>{name}</code> {value} of {count}
          <progress value={value} max={Math.max(1, count)} aria-label={`loop ${name}`} />
        </span>
      ))}
    </p>
  );
}
