// The stops of the tour, as the program that is there has them: what each says, which part it points at, and what it
// opens.

import { perform } from "../frame/actions";
import { scopeBox, statementBox } from "../graph/layout/scene";
import { atSizes, bytesText } from "../model/numbers";
import type { Status } from "../model/transports/transport";
import type { Store } from "../model/store";
import { STOPS, type StopName, type Tour } from "./place";
import type { Node, PreviewView, Snapshot, State, StepView } from "../protocol";
import { openStep } from "../views/step/steps";
import type { Found, Largest, Legal, Subjects } from "./subjects";

export interface Stop {
  readonly name: StopName;
  readonly title: string;
  /** Left out for a reason; looked for; or there. */
  readonly is: "there" | "looked for" | "missing";
  readonly why: string;
  /** What it says, with names between backticks. */
  readonly says: readonly string[];
  /** Finds the part that it is about, as soon as that is drawn. */
  readonly at: (root: ParentNode) => Element | null;
  /** Opens what it is about. */
  readonly open: (store: Store) => void;
}

/** What stops depend on besides their subjects. */
export interface Surroundings {
  readonly tour: Tour;
  readonly state: State;
  readonly status: Status;
  readonly snapshot: Snapshot | null;
}

type Shown = Pick<Stop, "says" | "at" | "open">;

const TITLES: Readonly<Record<StopName, string>> = {
  graph: "A program is a graph",
  statement: "From a box to your line",
  levels: "The same on every level",
  legal: "A move, and why it is legal",
  illegal: "A move that would be wrong",
  play: "Watch it run",
  apply: "Apply, undo, branch",
  memory: "Where the memory goes",
  measure: "Measure, and compare",
  share: "Pass it on",
};

export function stopsOf(subjects: Subjects, around: Surroundings): readonly Stop[] {
  const makers: Readonly<Record<StopName, () => Found<Shown>>> = {
    graph: () => map(subjects.box, (node) => graph(node, around)),
    statement: () => map(subjects.line, statement),
    levels: () => map(subjects.code, () => levels(subjects.line)),
    legal: () => map(subjects.legal, (found) => legal(found, around)),
    illegal: () => map(subjects.illegal, (preview) => illegal(preview, around)),
    play: () => map(subjects.play, ({ sizes }) => play(sizes)),
    apply: () => apply(subjects.legal, around),
    memory: () => map(subjects.largest, memory),
    measure: () => measure(around),
    share: () => ({ is: "there", value: share(around) }),
  };
  return STOPS.map((name) => {
    const found = makers[name]();
    const own = { name, title: TITLES[name], is: found.is, why: found.is === "missing" ? found.why : "" };
    return found.is === "there" ? { ...own, ...found.value } : { ...own, says: [], at: () => null, open: () => undefined };
  });
}

const map = <T, U>(found: Found<T>, then: (value: T) => U): Found<U> =>
  found.is === "there" ? { is: "there", value: then(found.value) } : found;

const part = (selector: string) => (root: ParentNode): Element | null => root.querySelector(selector);

const pane = part('[role="tabpanel"]');

/** Finds a button by its text. */
const button = (text: string) => (root: ParentNode): Element | null =>
  [...root.querySelectorAll("button")].find((one) => one.textContent?.startsWith(text)) ?? null;

/** Finds the box of a statement, or of the closed scope around it. */
const boxOf = ({ id, scope }: Node) => (root: ParentNode): Element | null => {
  const names = [statementBox(id), ...scope.map((_, depth) => scopeBox(scope.slice(0, depth + 1)))];
  const boxes = [...root.querySelectorAll("[aria-label^=\"Dependence graph\"] [data-name]")];
  return names.map((name) => boxes.find((box) => box.getAttribute("data-name") === name)).find(Boolean) ?? null;
};

function graph(node: Node, { state, snapshot }: Surroundings): Shown {
  const marks = node.loops.map((position) => snapshot?.loops[position]?.mark ?? "");
  const loops = marks.length
    ? `The chips on its lower edge are the loops that it runs in, outermost first: ${listed(marks)}. In brackets, as \`[b]\`, one is an array axis: all of it at once.`
    : "It runs once: a box in loops has them as chips on its lower edge, outermost first.";
  const kept = node.kept.length ? ` \`${node.kept.join(", ")}\` is what is kept of its array.` : "";
  return {
    says: [
      `Each box is a statement of \`${state.name}\`; an arrow goes from what is computed to what reads it, dashed where a loop carries it to a later turn.`,
      `The outlined box is \`${node.title}\`. ${loops}${kept}`,
    ],
    at: boxOf(node),
    open: (store) => store.tools.seek?.(node.id),
  };
}

const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

function statement(node: Node): Shown {
  const line = node.line;
  return {
    says: [
      "A click on a box selects it. *Details* has its equation, the set of its instances and what it reads, as exact relations.",
      `This one comes from ${line?.place}: \`${line?.text.trim()}\`.`,
    ],
    at: pane,
    open: (store) => store.select({ statements: [node.id], scope: null, instance: null, pane: "details" }),
  };
}

function levels(line: Found<Node>): Shown {
  const lit = line.is === "there" ? `The lit lines are those of \`${line.value.title}\`; a` : "A";
  return {
    says: [
      "Equations say what is computed, the order says when, the loops where it is kept; Python, C or CUDA is what runs.",
      `${lit} click on a line selects the box that it came from.`,
    ],
    at: pane,
    open: (store) =>
      store.select({ pane: "code", level: "loops", ...(line.is === "there" && { statements: [line.value.id], scope: null }) }),
  };
}

/** Opens a step on the variant that it is a move of. */
function openOn({ tour }: Surroundings, step: StepView): (store: Store) => void {
  return (store) => {
    if (store.values().state?.current !== tour.variant) {
      void perform(store, () => store.ask({ type: "show", variant: tour.variant }));
    }
    store.select({ pane: "moves" });
    openStep(store, step.json);
  };
}

function legal({ move: { step }, count, summary }: Legal, around: Surroundings): Shown {
  return {
    says: [
      `\`${step.text}\` is one of the ${count} ${count === 1 ? "move" : "moves"} that can come next. ${summary}`,
      "The panel says what it is predicted to cost, and why it is legal: what orders each pair of statements that it moves. Equal numbers in the drawing are one array operation.",
    ],
    at: part('[aria-label="Why it is legal"]'),
    open: openOn(around, step),
  };
}

function illegal({ step, refusal }: PreviewView, around: Surroundings): Shown {
  const { source, sink } = refusal?.witness ?? {};
  const help = refusal?.repairs.length || refusal?.instead.length ? " Below it stands what would help." : "";
  const open = openOn(around, step);
  return {
    says: [
      `\`${step.text}\` is refused: no step that violates a dependence is ever taken.`,
      `The drawing has the two instances that show it: A, \`${source?.text}\`, writes what B reads, and B would not run after it.${help}`,
    ],
    at: (root) => root.querySelector(".wbk-why .wbk-space-view") ?? root.querySelector(".wbk-open-step .wbk-why"),
    open: (store) => {
      store.select({ statements: sink ? [sink.statement] : [], scope: null, instance: null });
      open(store);
    },
  };
}

function play(sizes: Readonly<Record<string, number>>): Shown {
  return {
    says: [
      `Here it runs${atSizes(sizes)}, event by event: a disc is an instance, a square a slot of memory, which fills, is read and is used again.`,
      "Space plays and pauses, arrow keys step.",
    ],
    at: part('[role="tabpanel"] [aria-label^="Player"]'),
    open: (store) => store.select({ pane: "play" }),
  };
}

const SAME = "What is computed stays the same, draw for draw";

function apply(found: Found<Legal>, around: Surroundings): Found<Shown> {
  const { tour, state, status } = around;
  if (found.is !== "there") return found;
  const { step } = found.value.move;
  const taken = state.variants.find((one) => one.parent === tour.variant && one.step?.source === step.source);
  if (taken) {
    return {
      is: "there",
      value: {
        says: [
          `\`${step.text}\` is taken: it stands in the path, and the graph has in colour what it changed. ${SAME}.`,
          "*Undo* goes back and *Redo* on. A step from an earlier variant begins a branch: *Variants* has the tree.",
        ],
        at: part('nav[aria-label="Steps taken"]'),
        open: () => undefined,
      },
    };
  }
  if (status !== "connected") return { is: "missing", why: "steps are taken where a Jupyter kernel runs" };
  return {
    is: "there",
    value: {
      says: [`*Apply* takes \`${step.text}\`. ${SAME}; the variant before it stays. Press it to see.`],
      at: (root) => [...root.querySelectorAll(".wbk-open-step button")].find((one) => one.textContent === "Apply") ?? null,
      open: openOn(around, step),
    },
  };
}

function memory({ array, peak, sizes }: Largest): Shown {
  return {
    says: [
      `It holds ${bytesText(peak)} at most${atSizes(sizes)}. The largest array is \`${array.name}\`: ${bytesText(array.bytes)}, which grows as \`${array.formula.replace(/ bytes$/, "")}\`.`,
      "*Reduce* beside it ranks the steps by what they do to it.",
    ],
    at: pane,
    open: (store) => store.select({ pane: "memory", ...(array.statements.length && { statements: array.statements, scope: null }) }),
  };
}

function measure({ status, state }: Surroundings): Found<Shown> {
  const open = (store: Store): void => store.select({ pane: "compare" });
  const result = "Each is checked against the reference first; the table has medians with the interval that they lie in, beside what was predicted.";
  if (status === "connected") {
    const says = [`What was said of seconds so far is predicted. *Measure* runs variants in turn, in a process of its own. ${result}`];
    return { is: "there", value: { says, at: pane, open } };
  }
  if (!state.measurements.length) {
    return { is: "missing", why: "nothing of it was measured, and no Jupyter kernel is there to do it" };
  }
  return { is: "there", value: { says: [`These variants ran in turn. ${result}`], at: pane, open } };
}

function share({ status }: Surroundings): Shown {
  const kept =
    status === "connected"
      ? "*Save* writes a report of what the steps gained, a page of all this that needs no Python, the graph as a picture, or the steps as Python; it copies a link to just what is shown."
      : "*Save* has the graph as a picture, the state as a file, the steps as Python, and a link to just what is shown.";
  return {
    says: [`${kept} The notebook keeps it too: who opens it sees the graph without running a cell.`],
    at: button("Save"),
    open: () => undefined,
  };
}
