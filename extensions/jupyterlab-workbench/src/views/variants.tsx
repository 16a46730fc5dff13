// The variants as a tree of steps: what each changed, measured or predicted, and what can be done with it.

import { useState } from "react";
import { copy } from "../frame/files";
import { useSelection, useStore, useValues, useWorkbench } from "../model/hooks";
import type { Asked } from "../model/store";
import type { CostView, MeasurementView, VariantView } from "../protocol";
import {
  changedSizes,
  type Comparison,
  comparisons,
  dateText,
  family,
  stepsSince,
  usePredictions,
} from "./measured";
import { Numbers } from "./effect";
import { sizesText } from "./numbers";
import { Optimize } from "./recipe";
import { type Station, stations } from "./subway";

/** How wide a lane is, how high the part of a row that holds its station. */
const LANE = 16;
const STATION = 15;

/** Asks, and tells in a sentence what does not work. */
type Ask = (request: Asked, doing: string) => void;

export function Variants(): JSX.Element {
  const state = useWorkbench();
  const [basis, setBasis] = useState("");
  const [said, setSaid] = useState("");
  const [doing, setDoing] = useState("");
  const [done, setDone] = useState("");
  const [dropped, setDropped] = useState<Dropped | null>(null);
  const store = useStore();
  const all = comparisons(state);
  const shown = basis === "estimate" ? undefined : (all.find(({ group }) => group === basis) ?? all[0]);
  const predictions = usePredictions(state.variants, useRun(shown));

  const ask: Ask = (request, what) => {
    setSaid("");
    setDone("");
    setDoing(what);
    store
      .ask(request)
      .catch((error: unknown) => setSaid(error instanceof Error ? error.message : String(error)))
      .finally(() => setDoing(""));
  };
  const drop = (variant: string, onto: string): void => {
    const steps = stepsSince(state, variant, onto);
    if (steps > 1) setDropped({ variant, onto, steps });
    else if (steps === 1) ask({ type: "replay", variant, onto, only_last: true }, "Checking the step …");
  };
  const rows = stations(state.variants);
  const lanes = Math.max(...rows.map((row) => row.lane)) + 1;
  return (
    <div className="wbk-view">
      <div className="wbk-bar">
        <Basis all={all} chosen={shown?.group ?? "estimate"} choose={setBasis} />
        <Optimize ask={ask} busy={doing !== ""} />
      </div>
      {said && (
        <p className="wbk-answer" role="alert">
          {said}
          <button className="wbk-icon" type="button" aria-label="Dismiss" onClick={() => setSaid("")}>
            ×
          </button>
        </p>
      )}
      {doing && (
        <p className="wbk-hint wbk-waiting" role="status">
          {doing}
        </p>
      )}
      {done && (
        <p className="wbk-hint" role="status">
          {done}
        </p>
      )}
      {dropped && <Drop dropped={dropped} ask={ask} close={() => setDropped(null)} />}
      <ul className="wbk-tree" aria-label="Variants">
        {rows.map((row) => (
          <Row
            key={row.variant.key}
            row={row}
            lanes={lanes}
            comparison={shown}
            predictions={predictions}
            ask={ask}
            drop={drop}
            tell={setDone}
          />
        ))}
      </ul>
    </div>
  );
}

/** Predictions are of the run that the measurements beside them are of. */
function useRun(shown: Comparison | undefined): Parameters<typeof usePredictions>[1] {
  const { sizes } = useWorkbench();
  const selection = useSelection();
  const first = shown?.rows[0];
  if (!first) return selection;
  const dtype = first.dtype === "float64" ? "float64" : "float32";
  return { sizes: changedSizes(sizes, first.sizes), backend: first.backend, dtype };
}

function Basis(props: {
  all: readonly Comparison[];
  chosen: string;
  choose: (group: string) => void;
}): JSX.Element {
  const { all, chosen, choose } = props;
  return (
    <label className="wbk-field">
      <span>Numbers</span>
      <select className="wbk-long" value={chosen} onChange={(event) => choose(event.target.value)}>
        {all.map(({ group, rows: [first] }) => (
          <option key={group} value={group}>
            {first?.recorded ? "recorded" : "measured"} {dateText(first?.date ?? "")}, {first?.backend}:{" "}
            {sizesText(first?.sizes ?? {})}
          </option>
        ))}
        <option value="estimate">predicted only</option>
      </select>
    </label>
  );
}

function Row(props: {
  row: Station;
  lanes: number;
  comparison: Comparison | undefined;
  predictions: ReadonlyMap<string, CostView>;
  ask: Ask;
  drop: (variant: string, onto: string) => void;
  tell: (sentence: string) => void;
}): JSX.Element {
  const { row, lanes, comparison, predictions, ask, drop, tell } = props;
  const { variant } = row;
  const state = useWorkbench();
  const store = useStore();
  const { compared } = useSelection();
  const [over, setOver] = useState(false);
  const [renaming, setRenaming] = useState(false);
  const current = variant.key === state.current;
  const ticked = compared.includes(variant.key);
  const measured = comparison?.rows.find((one) => one.variant === variant.key);
  return (
    <li
      className={`wbk-stop${current ? " wbk-current" : ""}${over ? " wbk-over" : ""}`}
      aria-current={current ? "true" : undefined}
      draggable={variant.parent !== null && !renaming}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED, variant.key);
        event.dataTransfer.effectAllowed = "copy";
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes(DRAGGED)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        drop(event.dataTransfer.getData(DRAGGED), variant.key);
      }}
    >
      <Track row={row} lanes={lanes} current={current} />
      <div className="wbk-stop-body">
        <div className="wbk-stop-head">
          <input
            type="checkbox"
            aria-label={`Compare ${variant.name}`}
            title="Compare, and lay over in the memory timeline"
            checked={ticked}
            onChange={() => store.select({ compared: toggled(compared, variant.key) })}
          />
          {renaming ? (
            <Rename variant={variant} ask={ask} close={() => setRenaming(false)} />
          ) : (
            <button
              className="wbk-stop-name"
              type="button"
              title={current ? "This is what is shown" : "Show this variant"}
              onDoubleClick={() => setRenaming(true)}
              onClick={() => current || ask({ type: "show", variant: variant.key }, "")}
            >
              {variant.name}
            </button>
          )}
          <Badge measured={measured} />
          <Menu variant={variant} ask={ask} drop={drop} tell={tell} rename={() => setRenaming(true)} />
        </div>
        {variant.named && <div className="wbk-stop-step">{variant.step?.text ?? "as written"}</div>}
        <Numbers variant={variant} measured={measured} comparison={comparison} predictions={predictions} />
        {variant.why && <div className="wbk-stop-why">{variant.why}</div>}
        {current && variant.notes.map((note) => (
          <div className="wbk-stop-why" key={note}>
            left as it was: {note}
          </div>
        ))}
      </div>
    </li>
  );
}

const DRAGGED = "application/x-workbench-variant";

const toggled = (keys: readonly string[], key: string): readonly string[] =>
  keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key];

/** The lines of a row: what passes by, where this one comes from and whether it goes on. */
function Track({ row, lanes, current }: { row: Station; lanes: number; current: boolean }): JSX.Element {
  const x = (lane: number): number => LANE * lane + LANE / 2;
  const at = x(row.lane);
  const curve = row.from !== null && row.from !== row.lane;
  return (
    <div className="wbk-track" style={{ width: LANE * lanes }} aria-hidden="true">
      {row.passing.map((lane) => (
        <i key={lane} data-lane={lane % 4} style={{ left: x(lane), top: 0, bottom: 0 }} />
      ))}
      {row.from === row.lane && <i data-lane={row.lane % 4} style={{ left: at, top: 0, height: STATION }} />}
      {row.goesOn && <i data-lane={row.lane % 4} style={{ left: at, top: STATION, bottom: 0 }} />}
      {curve && (
        <svg width={LANE * lanes} height={STATION + 1}>
          <path
            data-lane={row.lane % 4}
            d={`M${x(row.from ?? 0)} 0C${x(row.from ?? 0)} ${STATION} ${x(row.from ?? 0)} ${STATION} ${at} ${STATION}`}
          />
        </svg>
      )}
      <b className={current ? "wbk-here" : ""} data-lane={row.lane % 4} style={{ left: at, top: STATION }} />
    </div>
  );
}

const OUTCOMES: Readonly<Record<MeasurementView["outcome"], readonly [string, string]>> = {
  passed: ["✓ checked", "wbk-good"],
  failed: ["✗ FAILED", "wbk-bad"],
  impossible: ["? not checkable", "wbk-warn"],
  "not run": ["not run", "wbk-faint"],
};

export function Badge({ measured }: { measured: MeasurementView | undefined }): JSX.Element {
  const [text, style] = OUTCOMES[measured?.outcome ?? "not run"];
  return (
    <span className={`wbk-badge ${style}`} title={measured?.check_report ?? "Measure it to have it checked."}>
      {text}
    </span>
  );
}

function Rename(props: { variant: VariantView; ask: Ask; close: () => void }): JSX.Element {
  const { variant, ask, close } = props;
  const [name, setName] = useState(variant.named ? variant.name : "");
  return (
    <form
      className="wbk-rename"
      onSubmit={(event) => {
        event.preventDefault();
        close();
        ask({ type: "rename", variant: variant.key, name: name.trim() }, "");
      }}
    >
      <input
        type="text"
        autoFocus
        aria-label="Name of the variant"
        placeholder={variant.step?.text ?? "as written"}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onBlur={close}
        onKeyDown={(event) => event.key === "Escape" && close()}
      />
    </form>
  );
}

function Menu(props: {
  variant: VariantView;
  ask: Ask;
  drop: (variant: string, onto: string) => void;
  tell: (sentence: string) => void;
  rename: () => void;
}): JSX.Element {
  const { variant, ask, drop, tell, rename } = props;
  const state = useWorkbench();
  const { status } = useValues();
  const { transport } = useStore();
  const [removing, setRemoving] = useState(false);
  const saved = status === "saved";
  const lost = family(state, variant.key).length;
  const close = (event: React.MouseEvent): void =>
    (event.currentTarget as HTMLElement).closest("details")?.removeAttribute("open");
  const insert = transport.insertCell;
  return (
    <details
      className="wbk-more"
      onToggle={() => setRemoving(false)}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) event.currentTarget.removeAttribute("open");
      }}
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.removeAttribute("open")}
    >
      <summary aria-label={`More for ${variant.name}`} title="More">
        ⋯
      </summary>
      <div className="wbk-more-list" onClick={(event) => removing || close(event)}>
        <button type="button" onClick={() => void copy(variant.recipe).then(() => tell("The recipe is copied."))}>
          Copy recipe
        </button>
        {insert && (
          <button type="button" onClick={() => insert(variant.recipe)}>
            Insert recipe as a cell
          </button>
        )}
        {!saved && (
          <button type="button" onClick={rename}>
            Rename
          </button>
        )}
        {!saved && variant.key !== state.current && stepsSince(state, variant.key, state.current) > 0 && (
          <button type="button" onClick={() => drop(variant.key, state.current)}>
            Take its steps on the shown variant
          </button>
        )}
        {!saved && variant.parent !== null && (
          <button
            type="button"
            className="wbk-danger"
            onClick={(event) => {
              event.stopPropagation();
              if (!removing && lost > 1) return setRemoving(true);
              return ask({ type: "remove", variant: variant.key }, "");
            }}
          >
            {removing ? `Remove it and ${lost - 1} that came from it` : "Remove"}
          </button>
        )}
      </div>
    </details>
  );
}

interface Dropped {
  readonly variant: string;
  readonly onto: string;
  readonly steps: number;
}

/** Which steps are meant, where there are several. */
function Drop(props: { dropped: Dropped; ask: Ask; close: () => void }): JSX.Element {
  const { variant, onto, steps } = props.dropped;
  const { variants } = useWorkbench();
  const name = (key: string): string => variants.find((one) => one.key === key)?.name ?? "";
  const take = (only_last: boolean): void => {
    props.close();
    props.ask({ type: "replay", variant, onto, only_last }, "Checking every step …");
  };
  return (
    <div className="wbk-answer wbk-question" role="group" aria-label="Which steps">
      <span>
        On <b>{name(onto)}</b>, each step checked anew, take
      </span>
      <button className="wbk-button" type="button" autoFocus onClick={() => take(false)}>
        all {steps} steps to {name(variant)}
      </button>
      <button className="wbk-button" type="button" onClick={() => take(true)}>
        the last alone
      </button>
      <button className="wbk-icon" type="button" aria-label="Take none" onClick={props.close}>
        ×
      </button>
    </div>
  );
}
