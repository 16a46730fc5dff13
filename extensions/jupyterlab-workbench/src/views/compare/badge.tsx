// Badges of a measured variant: its check against the reference, which opens to the report, and its unfinished rounds.

import { useId, useState } from "react";
import { useValues, useWorkbench } from "../../model/hooks";
import { atSizes, onThreads, secondsText } from "../../model/numbers";
import type { MeasurementView, RunView } from "../../protocol";
import { unfinished } from "./measured";

const OUTCOMES: Readonly<Record<MeasurementView["outcome"], readonly [string, string]>> = {
  passed: ["✓ checked", "wbk-good"],
  failed: ["✗ FAILED", "wbk-bad"],
  impossible: ["? not checkable", "wbk-warn"],
  "not run": ["not run", "wbk-faint"],
};

const MEASURE = "Measure it to have it checked.";

/** The badge of what was not measured: the time of its last run here that came to its end. Python may have run it too. */
function Unmeasured({ variant }: { variant: string }): JSX.Element {
  const { runs } = useWorkbench();
  const last = runs.filter((run) => run.variant === variant && run.completed === run.total && !run.failed).at(-1);
  return (
    <span className="wbk-badge wbk-faint" title={last ? `${whereText(last)}. ${MEASURE}` : MEASURE}>
      {last ? `ran in ${secondsText(last.seconds)}` : "not run here"}
    </span>
  );
}

const whereText = ({ backend, threads, sizes }: RunView): string =>
  `On ${onThreads({ backend, threads: threads ?? 1 })}${atSizes(sizes)}`;

/** Returns a badge, and the report below it while it is open. They stand apart: there is room for a report elsewhere. */
export function useCheck(measured: MeasurementView | undefined, variant: string): {
  readonly badge: JSX.Element;
  readonly report: JSX.Element | null;
} {
  const id = useId();
  const [open, setOpen] = useState(false);
  if (!measured) return { badge: <Unmeasured variant={variant} />, report: null };
  const [text, style] = OUTCOMES[measured.outcome];
  const badge = (
    <button
      className={`wbk-badge ${style}`}
      type="button"
      aria-expanded={open}
      {...(open ? { "aria-controls": id } : {})}
      title={open ? "Close the report" : "What was compared with what, and how well it agrees"}
      onClick={() => setOpen(!open)}
    >
      {text} <span aria-hidden="true">{open ? "▾" : "▸"}</span>
    </button>
  );
  return { badge, report: open ? <Report id={id} text={measured.check_report} /> : null };
}

/** The report of a check: a sentence, and what stands below it. */
function Report({ id, text }: { id: string; text: string }): JSX.Element {
  const [head, ...below] = reportOf(text);
  return (
    <div className="wbk-check-report" id={id} role="group" aria-label="Report of the check">
      <p>{head?.text}</p>
      <ul>
        {below.map((item) => (
          <li key={item.text}>
            {item.text}
            {item.below.length > 0 && (
              <ul>
                {item.below.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface Item {
  readonly text: string;
  readonly below: readonly string[];
}

/** Returns the lines of a report, those of the deepest level below the ones that they belong to. */
export function reportOf(text: string): readonly Item[] {
  const items: { text: string; below: string[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("    ")) items.at(-1)?.below.push(line.trim());
    else items.push({ text: line.trim(), below: [] });
  }
  return items;
}

/** A badge of a measurement that was ended early, or still runs. */
export function Unfinished({ row }: { row: MeasurementView }): JSX.Element | null {
  const { measuring } = useWorkbench();
  const { status } = useValues();
  const text = unfinished(row);
  if (!text) return null;
  const growing = status === "connected" && measuring !== null && measuring.group === row.group;
  return (
    <span
      className={growing ? "wbk-rounds wbk-waiting" : "wbk-rounds"}
      title={growing ? "It is being measured" : "The measurement was ended before its time: these rounds were finished"}
    >
      {text}
    </span>
  );
}
