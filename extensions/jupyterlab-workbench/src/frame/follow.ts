// Opens links: shows the variant, the pane and the selection that one is of, as soon as its program is there, and tells
// what of it does not fit.

import { type Link, read } from "../model/link";
import type { Store } from "../model/store";
import type { Snapshot } from "../protocol";
import { VIEWS } from "../views";

/** Milliseconds between two looks at whether cells still run, or a picture has come. */
const OFTEN = 100;

/** The looks after which a saved workbench does not hold a picture. */
const LOOKS = 5;

/** Opens a link once its program is there and `calm` (cells that run act on the shown variant). The result ends the
 * waiting for that. */
export function follow(store: Store, text: string, calm: () => boolean = () => true): () => void {
  const endings: (() => void)[] = [];
  let over = false;
  const end = (): void => {
    over = true;
    for (const ending of endings.splice(0)) ending();
  };
  void read(text).then(
    (link) => {
      if (over) return;
      const look = (): void => {
        if (over || !isThere(store, link) || !calm()) return;
        end();
        void open(store, link).then(
          (told) => store.say(told ? { text: told, failed: true } : null),
          (problem: unknown) => store.say({ text: sentence(problem), failed: true, ...remedy(store, link) }),
        );
      };
      const timer = window.setInterval(look, OFTEN);
      endings.push(store.subscribe(look), () => window.clearInterval(timer));
      wait(store, link);
      look();
    },
    (problem: unknown) => over || store.say({ text: sentence(problem), failed: true }),
  );
  return end;
}

const sentence = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

/** Tells whether the link can be opened: its program is there, or a saved workbench, which will not change. */
function isThere(store: Store, { program }: Link): boolean {
  const { status, state, workbenches } = store.values();
  if (!state) return false;
  if (state.name !== program && workbenches.includes(program)) store.choose(program);
  return status === "saved" || (status === "connected" && store.values().state?.name === program);
}

/** Of a workbench saved in a notebook: running its cell helps. */
function remedy(store: Store, { program }: Link): { missing?: string } {
  return store.values().status === "saved" && store.transport.runCell ? { missing: program } : {};
}

function wait(store: Store, link: Link): void {
  const text = `A link to ${variantOf(link)} is open: it shows once a cell has traced ${link.program}.`;
  store.say({ text, failed: false, missing: link.program, unseen: true });
}

const variantOf = ({ name, program, steps }: Link): string =>
  steps.length ? `“${name}” of ${program}` : `${program} as written`;

/** Opens a link; the result tells what does not fit, "" where all does. */
async function open(store: Store, link: Link): Promise<string> {
  const told = await shown(store, link);
  const picture = await pictureOf(store);
  const { state } = store.values();
  const there = new Set(picture?.nodes.map(({ id }) => id));
  const free = new Set(state?.sizes.filter(({ derived }) => derived === null).map(({ name }) => name));
  const scope = link.scope && picture?.nodes.some((node) => link.scope?.every((name, depth) => node.scope[depth] === name));
  const pane = link.pane === "" || VIEWS.some((view) => view.name === link.pane);
  store.select({
    ...(pane ? { pane: link.pane } : {}),
    level: link.level,
    sizes: Object.fromEntries(Object.entries(link.sizes).filter(([name]) => free.has(name))),
    statements: link.statements.filter((id) => there.has(id)),
    scope: scope ? link.scope : null,
    instance: null,
    move: null,
  });
  const missing = [
    ...(picture ? link.statements.filter((id) => !there.has(id)) : []),
    ...(picture && link.scope && !scope ? [link.scope.join(".")] : []),
    ...Object.keys(link.sizes).filter((name) => !free.has(name)),
  ];
  return [
    told,
    pane ? "" : `There is no pane “${short(link.pane)}” here.`,
    missing.length ? `${missing.map(short).join(", ")} of the link ${missing.length > 1 ? "are" : "is"} not in this variant.` : "",
  ].filter(Boolean).join(" ");
}

/** Shows the link's variant; the result tells how it differs, "" where it does not. */
async function shown(store: Store, link: Link): Promise<string> {
  const { state, status } = store.values();
  if (!state || state.name !== link.program) return fail(`The link is of ${link.program}, and this is ${state?.name ?? "nothing"}.`);
  if (state.variants.some(({ key }) => key === link.variant)) {
    await store.ask({ type: "show", variant: link.variant });
    return "";
  }
  if (status === "saved") {
    const where = store.transport.runCell ? "; it shows once the program's cell has run." : ".";
    return fail(`What was saved here does not hold ${variantOf(link)}, which the link is of${where}`);
  }
  const made = await stepsTaken(store, link, state.root);
  if (made === link.variant) return "";
  const steps = link.steps.length ? " Its steps fit all the same." : "";
  return `${link.program} has other equations or arguments here than where the link was made.${steps}`;
}

/** Takes the link's steps; the result is the variant that they make. */
async function stepsTaken(store: Store, { steps, program }: Link, root: string): Promise<string | null> {
  if (!steps.length) {
    await store.ask({ type: "show", variant: root });
    return root;
  }
  try {
    const done = await store.ask({ type: "follow", steps });
    return done.type === "done" ? done.variant : null;
  } catch (problem) {
    return fail(`The link's steps do not fit ${program}: ${sentence(problem)}`);
  }
}

function fail(text: string): never {
  throw new Error(text);
}

const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** Waits for the picture of the shown variant; null where none comes. */
async function pictureOf(store: Store): Promise<Snapshot | null> {
  for (let looks = 0; ; looks += 1) {
    const { status, value } = store.part("snapshot", store.values().state?.current ?? "", {});
    if (status === "done") return value;
    if (status === "failed" || (status === "absent" && looks > LOOKS)) return null;
    await new Promise((resolve) => setTimeout(resolve, OFTEN));
  }
}
