// An execution as it is played: its events, and the state of every instance and slot after each. Pure functions.

import type { PlayedStatement, PlayView } from "../../protocol";

export type Point = readonly number[];

/** An instance: its statement, its coordinates, the element that it writes, those that it reads. */
export interface Played {
  readonly statement: number;
  readonly point: Point;
  readonly write: number;
  readonly reads: readonly number[];
}

/** An event: the instances of a statement that run at once, by number. */
export interface Event {
  readonly statement: number;
  readonly instances: readonly number[];
}

/** The times at which a slot gets another element, the first one first. */
interface History {
  readonly events: readonly number[];
  readonly elements: readonly number[];
}

export interface Script {
  readonly view: PlayView;
  /** All instances; those of a statement have numbers in a row. */
  readonly instances: readonly Played[];
  readonly events: readonly Event[];
  /** The event of each instance. */
  readonly eventOf: readonly number[];
  /** How many instances have run before each event, and after the last. */
  readonly before: readonly number[];
  /** The slots of each element, counted through all pieces of memory. */
  readonly slotsOf: readonly (readonly number[])[];
  /** The first slot of each piece of memory. */
  readonly firstSlot: readonly number[];
  readonly slots: number;
  /** Tells of each slot whether nothing that is played writes into its piece of memory: it was filled before. */
  readonly filled: readonly boolean[];
  readonly histories: readonly History[];
  /** The last event that reads each element; all of an output are read at the end. */
  readonly lastRead: readonly number[];
  /** The name of each instance, the same in all variants, and the instances with a name. */
  readonly names: readonly string[];
  readonly named: ReadonlyMap<string, readonly number[]>;
}

/** Returns the script of an execution. */
export function scriptOf(view: PlayView): Script {
  const instances: Played[] = [];
  const first = view.statements.map((statement, number) => {
    const start = instances.length;
    instances.push(...decoded(statement, number));
    return start;
  });
  const next = [...first];
  const eventOf: number[] = Array.from({ length: instances.length }, () => 0);
  const before = [0];
  const events = view.order.map((statement, event): Event => {
    const start = next[statement] ?? 0;
    const end = start + (view.at_once[event] ?? 0);
    next[statement] = end;
    before.push((before[event] ?? 0) + end - start);
    const together = Array.from({ length: end - start }, (_, k) => start + k);
    for (const instance of together) eventOf[instance] = event;
    return { statement, instances: together };
  });
  const firstSlot: number[] = [];
  let slots = 0;
  for (const memory of view.memories) {
    firstSlot.push(slots);
    slots += memory.slots;
  }
  const slotsOf = view.arrays.flatMap((array) =>
    array.slots.map((own) => own.map((slot) => (firstSlot[array.memory] ?? 0) + slot)),
  );
  const written = new Set(view.statements.map(({ array }) => view.arrays[array]?.memory));
  const filled = view.memories.flatMap((memory, number) =>
    Array.from({ length: memory.slots }, () => !written.has(number)),
  );
  const script = { view, instances, events, eventOf, before, slotsOf, firstSlot, slots, filled };
  const names = instances.map((played) => nameOf(script, played));
  const named = new Map<string, number[]>();
  names.forEach((name, instance) => named.set(name, [...(named.get(name) ?? []), instance]));
  return { ...script, histories: histories(script), lastRead: lastReads(script), names, named };
}

function decoded(statement: PlayedStatement, number: number): Played[] {
  let [place, write] = [0, 0];
  let row: readonly number[] = [];
  return statement.points.map((by, k) => {
    place += by;
    write += statement.writes[k] ?? 0;
    row = (statement.reads[k] ?? []).map((more, at) => more + (row[at] ?? 0));
    return { statement: number, point: pointAt(place, statement.lower, statement.lengths), write, reads: row };
  });
}

/** Returns the point at a place of a box, counted with the last dimension fastest. */
export function pointAt(place: number, lower: Point, lengths: Point): Point {
  const point: number[] = [];
  let rest = place;
  for (let k = lengths.length - 1; k >= 0; k--) {
    const length = lengths[k] ?? 1;
    point.unshift((lower[k] ?? 0) + (rest % length));
    rest = Math.floor(rest / length);
  }
  return point;
}

type Begun = Omit<Script, "histories" | "lastRead" | "names" | "named">;

function histories({ events, instances, slotsOf, slots }: Begun): readonly History[] {
  const found = Array.from({ length: slots }, () => ({ events: [] as number[], elements: [] as number[] }));
  events.forEach((event, time) => {
    for (const instance of event.instances) {
      const element = instances[instance]?.write ?? 0;
      for (const slot of slotsOf[element] ?? []) {
        found[slot]?.events.push(time);
        found[slot]?.elements.push(element);
      }
    }
  });
  return found;
}

function lastReads({ view, events, instances, slotsOf }: Begun): readonly number[] {
  const last: number[] = Array.from({ length: slotsOf.length }, () => -1);
  events.forEach((event, time) => {
    for (const instance of event.instances) for (const read of instances[instance]?.reads ?? []) last[read] = time;
  });
  for (const { output, first, slots } of view.arrays) if (output) last.fill(Infinity, first, first + slots.length);
  return last;
}

// -- the state after some events -----------------------------------------------------------------------------------

export type InstanceState = "ahead" | "now" | "done";
/** `live`: it holds what is still to be read; `dead`: what nobody reads any more. */
export type SlotState = "empty" | "live" | "dead";

export interface Frame {
  readonly instances: readonly InstanceState[];
  readonly slots: readonly SlotState[];
  /** The element in each slot; -1 for none. */
  readonly held: readonly number[];
  readonly read: ReadonlySet<number>;
  readonly written: ReadonlySet<number>;
}

/** Returns the state after `ran` events, of which the last is happening now. One more than there are: all is over. */
export function frameAt(script: Script, ran: number): Frame {
  const now = ran - 1;
  const slots = Array.from({ length: script.slots }, (_, slot) => slot);
  const { read, written } = touchedBy(script, now);
  return {
    instances: script.instances.map((_, instance) => instanceAt(script, instance, now)),
    slots: slots.map((slot) => slotAt(script, slot, now)),
    held: slots.map((slot) => heldAt(script, slot, now)),
    read,
    written,
  };
}

/** Returns the state of an instance while the event `now` happens. */
export function instanceAt({ eventOf }: Script, instance: number, now: number): InstanceState {
  const event = eventOf[instance] ?? 0;
  return event < now ? "done" : event === now ? "now" : "ahead";
}

/** Returns the state of a slot while the event `now` happens. */
export function slotAt(script: Script, slot: number, now: number): SlotState {
  if (script.filled[slot]) return "live";
  const element = heldAt(script, slot, now);
  if (element < 0) return "empty";
  return (script.lastRead[element] ?? -1) >= now ? "live" : "dead";
}

/** Returns the slots that an event reads and writes. */
export function touchedBy(script: Script, event: number): Pick<Frame, "read" | "written"> {
  const [read, written] = [new Set<number>(), new Set<number>()];
  for (const instance of script.events[event]?.instances ?? []) {
    const played = script.instances[instance];
    if (!played) continue;
    for (const element of played.reads) for (const slot of script.slotsOf[element] ?? []) read.add(slot);
    for (const slot of script.slotsOf[played.write] ?? []) written.add(slot);
  }
  return { read, written };
}

/** Returns the instances and slots whose state may differ after so many events and after so many others. */
export function changedBetween(script: Script, one: number, other: number): { instances: Set<number>; slots: Set<number> } {
  const [instances, slots] = [new Set<number>(), new Set<number>()];
  for (let event = Math.max(0, Math.min(one, other) - 1); event < Math.max(one, other); event++) {
    for (const instance of script.events[event]?.instances ?? []) instances.add(instance);
    const { read, written } = touchedBy(script, event);
    for (const slot of read) slots.add(slot);
    for (const slot of written) slots.add(slot);
  }
  return { instances, slots };
}

/** Returns the element that a slot holds once the event `now` has happened; -1 for none. */
export function heldAt({ histories }: Script, slot: number, now: number): number {
  const { events, elements } = histories[slot] ?? { events: [], elements: [] };
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle] ?? 0) <= now) low = middle + 1;
    else high = middle;
  }
  return elements[low - 1] ?? -1;
}

// -- several in step ---------------------------------------------------------------------------------------------

/** Returns the positions at which something changes in one of the scripts that are played in step: numbers of instances
 * of which the last is running. */
export function positionsOf(scripts: readonly Script[]): readonly number[] {
  const found = new Set([0]);
  for (const { before } of scripts) for (const ran of before.slice(0, -1)) found.add(ran + 1);
  return [...found].sort((one, other) => one - other);
}

/** Returns how many events have happened when so many instances have run: the last of them brings that instance. A
 * script with fewer instances is over then. */
export function ranAt({ before }: Script, instances: number): number {
  let [low, high] = [0, before.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((before[middle] ?? 0) < instances) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the first position from which an event has happened. */
export const positionOf = ({ before }: Script, event: number): number => (before[event] ?? 0) + 1;

/** Returns the name that an instance has in every variant: what its statement came from, and its coordinates. */
export function nameOf({ view }: Pick<Script, "view">, { statement, point }: Played): string {
  const { origin, dims } = view.statements[statement] ?? { origin: "", dims: [] };
  return `${origin} ${dims.map((dim, k) => `${dim}=${point[k]}`).sort().join(" ")}`;
}

/** Returns the instances of `script` that are those of `other` which run now. */
export function twins(script: Script, other: Script, ran: number): ReadonlySet<number> {
  const now = other.events[ran - 1]?.instances ?? [];
  return new Set(now.flatMap((instance) => script.named.get(other.names[instance] ?? "") ?? []));
}

/** Returns the next event of a statement behind the first `ran` ones; the first again behind the last. */
export function nextOf({ view, events }: Script, statement: string, ran: number): number | null {
  const own = events.flatMap((event, time) => (view.statements[event.statement]?.statement === statement ? [time] : []));
  return own.find((time) => time >= ran) ?? own[0] ?? null;
}

// -- in words ------------------------------------------------------------------------------------------------------

export interface Told {
  readonly title: string;
  /** The instances: `b=0..2, t=1`. */
  readonly where: string;
  /** The number of instances. */
  readonly count: number;
  readonly reads: string;
  readonly writes: string;
}

/** Returns the event that happens last of so many, in words; null before the first and behind the last. */
export function told(script: Script, ran: number): Told | null {
  const event = script.events[ran - 1];
  const statement = event && script.view.statements[event.statement];
  if (!event || !statement) return null;
  const played = event.instances.flatMap((instance) => script.instances[instance] ?? []);
  return {
    title: statement.title,
    where: whereText(statement.dims, played.map((one) => one.point)),
    count: played.length,
    reads: readsText(script, statement, played),
    writes: writesText(script, ran, played),
  };
}

/** Says where instances are, by dimension. */
export function whereText(dims: readonly string[], points: readonly Point[]): string {
  return dims
    .map((dim, k) => {
      const values = [...new Set(points.map((point) => point[k] ?? 0))].sort((one, other) => one - other);
      const [low, high] = [values[0] ?? 0, values.at(-1) ?? 0];
      if (low === high) return `${dim}=${low}`;
      return high - low === values.length - 1 ? `${dim}=${low}..${high}` : `${dim}=${values.join(",")}`;
    })
    .join(", ");
}

/** Returns elements by array: `state[0..2, 1]`, or their number where they fill no box. */
export function elementsText(script: Script, elements: Iterable<number>): string {
  const all = [...new Set(elements)];
  return script.view.arrays
    .flatMap(({ name, first, slots, lower, lengths }) => {
      const own = all.filter((element) => element >= first && element < first + slots.length);
      if (!own.length) return [];
      const points = own.map((element) => pointAt(element - first, lower, lengths));
      const along = lengths.map((_, k) => points.map((point) => point[k] ?? 0));
      const [low, high] = [along.map((values) => Math.min(...values)), along.map((values) => Math.max(...values))];
      const room = low.reduce((product, from, k) => product * ((high[k] ?? 0) - from + 1), 1);
      if (room !== own.length) return `${own.length} of ${name}`;
      const ranges = low.map((from, k) => (from === high[k] ? `${from}` : `${from}..${high[k]}`));
      return ranges.length ? `${name}[${ranges.join(", ")}]` : name;
    })
    .join(", ");
}

function readsText(script: Script, { anywhere }: PlayedStatement, played: readonly Played[]): string {
  const elements = played.flatMap((one) => one.reads);
  const chosen = script.view.arrays.filter(({ name }) => anywhere.includes(name));
  const isChosen = (element: number): boolean =>
    chosen.some(({ first, slots }) => element >= first && element < first + slots.length);
  const plain = elementsText(script, elements.filter((element) => !isChosen(element)));
  const some = elementsText(script, elements.filter(isChosen));
  return [plain, some && `one of ${some}`].filter(Boolean).join(", ");
}

function writesText(script: Script, ran: number, played: readonly Played[]): string {
  const written = new Set(played.map(({ write }) => write));
  const slots = [...new Set([...written].flatMap((element) => script.slotsOf[element] ?? []))];
  const before = slots.map((slot) => heldAt(script, slot, ran - 2));
  const gone = new Set(before.filter((element) => element >= 0 && !written.has(element)));
  const replaced = gone.size ? `, over ${elementsText(script, gone)}` : "";
  return `${elementsText(script, written)}${replaced}`;
}
