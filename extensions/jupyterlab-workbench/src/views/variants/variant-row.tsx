// A variant in the tree: its station on the line, its step, the step's effect.

import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { nameOfKey } from "../../model/naming";
import type { CostView } from "../../protocol";
import type { Ask } from "../../model/asking";
import { useCheck } from "../compare/badge";
import { Numbers } from "./effect";
import type { Comparison } from "../compare/measured";
import type { Recipe } from "./folding";
import { Awaited, gainOf, Headline } from "./headline";
import { Notes } from "../step/notes";
import { seriesIn } from "../charts/series";
import { isBranch, type Station } from "./subway";
import { More, Rename } from "./variant-menu";

/** The width of a lane, and the height of the part of a row that holds its station. */
const LANE = 16;
const STATION = 15;

export function Row(props: {
  row: Station;
  /** The automatic recipe that ends with it, folded into this row or opened. */
  recipe: Recipe | undefined;
  isOpen: boolean;
  toggle: (key: string) => void;
  lanes: number;
  comparison: Comparison | undefined;
  predictions: ReadonlyMap<string, CostView>;
  awaited: ReadonlySet<string>;
  ask: Ask;
  drop: (variant: string, onto: string) => void;
  tell: (sentence: string) => void;
}): JSX.Element {
  const { row, recipe, isOpen, toggle, lanes, comparison, predictions, awaited, ask, drop, tell } = props;
  const { variant } = row;
  const state = useWorkbench();
  const store = useStore();
  const { compared } = useSelection();
  const { running } = useValues();
  const [over, setOver] = useState(false);
  const [renaming, setRenaming] = useState(false);
  const name = useRef<HTMLButtonElement>(null);
  const stopRenaming = (back: boolean): void => {
    flushSync(() => setRenaming(false));
    if (back) name.current?.focus();
  };
  const current = variant.key === state.current;
  const ticked = compared.includes(variant.key);
  const measured = comparison?.rows.find((one) => one.variant === variant.key);
  const { badge, report } = useCheck(measured, variant.key);
  const gain = recipe && gainOf(recipe, comparison, predictions);
  const isTold = gain && !isOpen && (gain.measured || measured === undefined);
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
      <Track row={row} lanes={lanes} current={current} colour={seriesIn(state, variant.key).colour} />
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
            <Rename variant={variant} ask={ask} close={stopRenaming} />
          ) : (
            <button
              ref={name}
              className={`wbk-stop-name${variant.named ? " wbk-own-name" : ""}`}
              type="button"
              title={current ? "This is what is shown" : "Show this variant"}
              onDoubleClick={() => setRenaming(true)}
              onClick={() => current || ask({ type: "show", variant: variant.key })}
            >
              {variant.name}
            </button>
          )}
          {running?.variant === variant.key && (
            <span className="wbk-running">
              <span className="wbk-blink" aria-hidden="true" />
              running
            </span>
          )}
          {badge}
          <More variant={variant} ask={ask} drop={drop} tell={tell} rename={() => setRenaming(true)} />
        </div>
        {report}
        {isBranch(row) && <div className="wbk-stop-from">branch of {nameOfKey(variant.parent ?? "", state.variants)}</div>}
        {recipe && (
          <button
            className="wbk-button wbk-link wbk-fold"
            type="button"
            aria-expanded={isOpen}
            title={isOpen ? "Show them as one row" : "Show each step"}
            onClick={() => toggle(variant.key)}
          >
            automatic recipe, {recipe.steps.length} steps <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
          </button>
        )}
        {gain && <Headline gain={gain} />}
        {recipe && !gain && <Awaited recipe={recipe} awaited={awaited} />}
        {variant.named && (!recipe || isOpen) && <div className="wbk-stop-step">{variant.step?.text ?? "as written"}</div>}
        {!isTold && <Numbers variant={variant} measured={measured} comparison={comparison} predictions={predictions} />}
        {variant.why && (!recipe || isOpen) && <div className="wbk-stop-why">{variant.why}</div>}
        {current && <Notes notes={variant.notes} />}
      </div>
    </li>
  );
}

const DRAGGED = "application/x-workbench-variant";

const toggled = (keys: readonly string[], key: string): readonly string[] =>
  keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key];

/** The lines of a row: passing ones, its own from its parent, and its continuation. */
function Track(props: { row: Station; lanes: number; current: boolean; colour: string }): JSX.Element {
  const { row, lanes, current, colour } = props;
  const x = (lane: number): number => LANE * lane + LANE / 2;
  const at = x(row.lane);
  return (
    <div className="wbk-track" style={{ width: LANE * lanes }} aria-hidden="true">
      {row.passing.map((lane) => (
        <i key={lane} style={{ left: x(lane), top: 0, bottom: 0 }} />
      ))}
      {row.from === row.lane && <i style={{ left: at, top: 0, height: STATION }} />}
      {row.goesOn && <i style={{ left: at, top: STATION, bottom: 0 }} />}
      {isBranch(row) && (
        <svg width={LANE * lanes} height={STATION + 1}>
          <path
            d={`M${x(row.from ?? 0)} 0C${x(row.from ?? 0)} ${STATION} ${x(row.from ?? 0)} ${STATION} ${at} ${STATION}`}
          />
        </svg>
      )}
      <b className={current ? "wbk-here" : ""} style={{ left: at, top: STATION, color: colour }} />
    </div>
  );
}
