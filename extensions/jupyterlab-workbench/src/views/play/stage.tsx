// One variant as it is played: its instances and slots, lit by the state after some events. What stands where is drawn
// once; a frame changes the classes of what it changes.

import { memo, useLayoutEffect, useMemo, useRef } from "react";
import { type Card, cardsOf, labelOf, PITCH, type SlotGrid, type StatementGrid } from "./cards";
import { changedBetween, heldAt, instanceAt, pointAt, type Script, slotAt, touchedBy } from "./script";

/** `twins`: the instances that run now in the variant beside; `picked`: the selected statement. */
export function Stage(props: {
  script: Script;
  ran: number;
  twins: ReadonlySet<number>;
  picked: string | undefined;
  follow: boolean;
  pick: (instance: number) => void;
}): JSX.Element {
  const { script, ran, twins, picked, follow, pick } = props;
  const host = useRef<HTMLDivElement>(null);
  const cards = useMemo(() => cardsOf(script), [script]);
  const paint = useMemo(() => painter(script), [script]);
  useLayoutEffect(() => {
    if (host.current) paint(host.current, ran, twins);
  }, [paint, ran, twins, cards]);
  useLayoutEffect(() => {
    if (follow) host.current?.querySelector("circle.wbk-play-now")?.scrollIntoView({ block: "nearest" });
  }, [follow, ran]);
  return (
    <div
      className="wbk-play-cards"
      ref={host}
      onClick={(event) => {
        const instance = (event.target as Element).getAttribute("data-instance");
        if (instance !== null) pick(Number(instance));
      }}
    >
      <Cards cards={cards} picked={picked} />
    </div>
  );
}

const Cards = memo(function Cards({ cards, picked }: { cards: readonly Card[]; picked: string | undefined }): JSX.Element {
  return (
    <>
      {cards.map((card) => (
        <div key={card.title} className="wbk-play-card" role="group" aria-label={card.title}>
          <h5 title={card.memory.storage}>
            {card.title}
            {card.memory.kept && <span className="wbk-chip">{card.memory.kept}</span>}
          </h5>
          <div className="wbk-play-grids">
            {card.statements.map((grid) => (
              <Instances key={`${grid.statement.statement} ${grid.statement.title}`} grid={grid} picked={grid.statement.statement === picked} />
            ))}
            <Slots grid={card.slots} filled={!card.statements.length} />
          </div>
        </div>
      ))}
    </>
  );
});

function Instances({ grid, picked }: { grid: StatementGrid; picked: boolean }): JSX.Element {
  const { statement, axes, spots, width, height } = grid;
  return (
    <figure className={picked ? "wbk-play-picked" : undefined}>
      <figcaption>
        {statement.title} <span>{axes}</span>
      </figcaption>
      <svg width={width} height={height} role="img" aria-label={`Instances of ${statement.title}: ${spots.length}`}>
        {spots.map(({ number, x, y }) => (
          <circle key={number} data-instance={number} cx={x} cy={y} r={PITCH / 2 - 2} />
        ))}
      </svg>
    </figure>
  );
}

/** `filled`: nothing that is played writes into them. */
function Slots({ grid, filled }: { grid: SlotGrid; filled: boolean }): JSX.Element {
  const { spots, axes, cell, labelled, width, height } = grid;
  const count = spots.length === 1 ? "1 slot" : `${spots.length} slots`;
  return (
    <figure>
      <figcaption>
        {count}
        {filled && ", filled before"} <span>{axes}</span>
      </figcaption>
      <svg width={width + 1} height={height + 1} role="img" aria-label={count}>
        {spots.map(({ number, x, y }) => (
          <g key={number} data-slot={number} transform={`translate(${x} ${y})`}>
            <rect x={1} y={1} width={cell.width - 1} height={cell.height - 1} rx={2} />
            {labelled && (
              <text x={cell.width / 2 + 0.5} y={cell.height / 2 + 0.5}>
                {""}
              </text>
            )}
          </g>
        ))}
      </svg>
    </figure>
  );
}

type Paint = (host: HTMLElement, ran: number, twins: ReadonlySet<number>) => void;

/** Returns what lights a stage; it knows what it lit last, and touches only what may differ from that. */
function painter(script: Script): Paint {
  const labels = script.view.arrays.flatMap(({ lower, lengths, slots }) =>
    slots.map((_, place) => labelOf(pointAt(place, lower, lengths))),
  );
  let drawn: { host: HTMLElement; stage: Parts; ran: number; twins: ReadonlySet<number> } | null = null;
  return (host, ran, twins) => {
    const last = drawn?.host === host ? drawn : null;
    const stage = last?.stage ?? partsOf(host);
    const { instances, slots } = last
      ? changedBetween(script, last.ran, ran)
      : { instances: stage.instances.keys(), slots: stage.slots.keys() };
    const now = ran - 1;
    for (const number of new Set([...instances, ...(last?.twins ?? []), ...twins])) {
      const twin = twins.has(number) ? " wbk-play-twin" : "";
      stage.instances[number]?.setAttribute("class", `wbk-play-${instanceAt(script, number, now)}${twin}`);
    }
    const { read, written } = touchedBy(script, now);
    for (const number of slots) {
      const marks = `${read.has(number) ? " wbk-play-read" : ""}${written.has(number) ? " wbk-play-written" : ""}`;
      stage.slots[number]?.setAttribute("class", `wbk-play-${slotAt(script, number, now)}${marks}`);
      const text = stage.texts[number];
      if (text) text.textContent = labels[heldAt(script, number, now)] ?? "";
    }
    const card = (at: number): Element | null | undefined => stage.cards[script.events[at - 1]?.instances[0] ?? -1];
    if (last) card(last.ran)?.removeAttribute("data-lit");
    card(ran)?.setAttribute("data-lit", "");
    drawn = { host, stage, ran, twins };
  };
}

/** The elements of a stage that are lit, by number. */
interface Parts {
  readonly instances: readonly Element[];
  readonly slots: readonly Element[];
  readonly texts: readonly (Element | null)[];
  readonly cards: readonly (Element | null)[];
}

function partsOf(host: HTMLElement): Parts {
  const instances = numbered(host, "data-instance");
  const slots = numbered(host, "data-slot");
  return {
    instances,
    slots,
    texts: slots.map((slot) => slot.querySelector("text")),
    cards: instances.map((instance) => instance.closest(".wbk-play-card")),
  };
}

function numbered(host: HTMLElement, attribute: string): readonly Element[] {
  const found: Element[] = [];
  for (const element of host.querySelectorAll(`[${attribute}]`)) found[Number(element.getAttribute(attribute))] = element;
  return found;
}
