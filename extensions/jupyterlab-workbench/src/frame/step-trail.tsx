// The steps from the program as written to the shown variant; each goes back to its variant.

import { useRef } from "react";
import { useCurrent, useStore, useValues, useWorkbench } from "../model/hooks";
import { lineageOf } from "../model/lineage";
import type { VariantView } from "../protocol";
import { useWidth } from "../views/charts/width";
import { perform } from "./actions";
import { Menu } from "./menu";

/** Pixels: of a letter, around a name, of the longest name, of the button that holds the names without room. */
const [LETTER, AROUND, LONGEST, BUTTON] = [6.8, 20, 210, 52];

export function Steps(): JSX.Element {
  const store = useStore();
  const host = useRef<HTMLElement>(null);
  const width = useWidth(host);
  const { status } = useValues();
  const { variants } = useWorkbench();
  const current = useCurrent();
  const lineage = lineageOf(current, variants);
  const hidden = lineage.length - inRoom(lineage.map((one) => one.name), width);
  const answers = status !== "connecting" && status !== "waiting";
  const show = (variant: VariantView): void => {
    if (variant !== current) void perform(store, () => store.ask({ type: "show", variant: variant.key }));
  };
  return (
    <nav className="wbk-steps" aria-label="Steps taken" data-taken={lineage.length > 1 || undefined} ref={host}>
      {hidden > 0 && (
        <Menu
          label={`… ${hidden}`}
          title={`${hidden} earlier`}
          items={() => [
            lineage.slice(0, hidden).map((variant) => ({
              name: variant.key,
              label: variant.name,
              refused: answers ? "" : "no Jupyter kernel answers",
              run: () => show(variant),
            })),
          ]}
        />
      )}
      <ol>
        {lineage.slice(hidden).map((variant) => (
          <li key={variant.key}>
            <button
              className={`wbk-step${variant.named ? " wbk-own-name" : ""}`}
              type="button"
              title={saidOf(variant)}
              disabled={!answers}
              {...(variant === current ? { "aria-current": "step" } : {})}
              onClick={() => show(variant)}
            >
              {variant.name}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Says what a variant is: its name, the step behind a reader's own name, and why an automatic step was taken. */
function saidOf({ name, named, step, why }: VariantView): string {
  return [name, named && (step?.text ?? "as written"), why].filter(Boolean).join("\n");
}

/** Counts the last names that can be read side by side in so many pixels: one at least, all where the room is
 * unknown. */
export function inRoom(names: readonly string[], width: number): number {
  const wide = names.map((name) => Math.min(LONGEST, AROUND + LETTER * name.length));
  if (!width || wide.reduce((sum, one) => sum + one, 0) <= width) return names.length;
  let [count, used] = [0, BUTTON];
  for (const one of wide.reverse()) {
    used += one;
    if (count > 0 && used > width) break;
    count++;
  }
  return count;
}
