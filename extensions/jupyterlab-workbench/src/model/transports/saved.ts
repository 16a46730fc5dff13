// A transport without Python: it answers from a saved workbench.

import type { Capsule, Message, Request } from "../../protocol";
import { PROTOCOL } from "../../protocol";
import { unpacked } from "./packed";
import { partKey } from "../parts";
import type { Transport } from "./transport";

/** A function that answers a request. */
type Answer = (request: Request) => readonly Message[];

export interface SavedTransport extends Transport {
  /** Goes on with a newer saved workbench. */
  renew(saved: unknown): void;
}

/** The abilities of a notebook, there without Python. */
export type Beside = Pick<
  Transport,
  "insertCell" | "showLine" | "runCell" | "openPanel" | "panel" | "saveNotebook" | "addressOf"
>;

export function savedTransport(saved: unknown, more: Beside = {}): SavedTransport {
  const listeners = new Set<(message: Message) => void>();
  const missing = new Set<Request>();
  let revision = 0;
  let answering = read(saved);

  function read(found: unknown): Promise<Answer> {
    return answers(found).catch((): Answer => () => [failure(null, UNREADABLE)]);
  }

  function say(message: Message): void {
    // The shown state never goes back, whatever number the file's state has.
    const told = message.type === "state" ? { ...message, state: { ...message.state, revision: ++revision } } : message;
    for (const listener of [...listeners]) listener(told);
  }

  function meet(request: Request, answer: Answer): void {
    const messages = answer(request);
    if (request.type === "want" && !messages.length) missing.add(request);
    else missing.delete(request);
    messages.forEach(say);
  }

  return {
    ...more,
    status: () => "saved",
    onStatus: () => () => undefined,
    onMessage(heard) {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    send(request) {
      // Later, as an answer from Python would be: the asker may be drawing just now.
      void answering.then((answer) => meet(request, answer));
    },
    renew(found) {
      answering = read(found);
      void answering.then((answer) => {
        meet({ type: "hello", protocol: PROTOCOL }, answer);
        for (const request of [...missing]) meet(request, answer);
      });
    },
  };
}

const UNREADABLE = "This is not a workbench that was saved, or not all of it.";

async function answers(saved: unknown): Promise<Answer> {
  if (!isSigned(saved)) throw new Error(UNREADABLE);
  if (saved.protocol !== PROTOCOL) return () => [{ type: "welcome", ...signed(saved), workbenches: [] }];
  return answersOf((await unpacked(saved)) as Capsule);
}

type Signed = Pick<Capsule, "protocol" | "release">;

/** Tells whether it names its release, whichever that is. */
function isSigned(saved: unknown): saved is Signed {
  if (typeof saved !== "object" || saved === null) return false;
  const { protocol, release } = saved as Record<string, unknown>;
  return typeof protocol === "number" && typeof release === "string";
}

function answersOf(capsule: Capsule): Answer {
  const parts = new Map(
    capsule.parts.map(({ part, variant, arguments: given, value }) => [partKey(part, variant, given), value]),
  );
  let state = capsule.state;
  return (request) => {
    switch (request.type) {
      case "hello":
        return [
          { type: "welcome", ...signed(capsule), workbenches: [state.workbench] },
          { type: "state", state, open: false },
        ];
      case "want": {
        const value = parts.get(partKey(request.part, request.variant, request.arguments));
        return value === undefined ? [] : [{ type: "part", id: request.id, value, done: true }];
      }
      case "forget":
        return [];
      case "show":
        state = { ...state, current: request.variant };
        return [
          { type: "state", state, open: false },
          { type: "done", id: request.id, variant: null },
        ];
      case "save":
        if (request.format === "html") return [failure(request.id, READ_ONLY)];
        return [
          { type: "saved", id: request.id, name: fileName(state.name), text: JSON.stringify({ ...capsule, state }) },
        ];
      default:
        return [failure(request.id, READ_ONLY)];
    }
  };
}

const READ_ONLY = "This is a saved workbench: run the notebook's cell to change something.";

const signed = ({ protocol, release }: Signed): Signed => ({ protocol, release });

const fileName = (name: string): string => `${name.replaceAll(/[^\p{L}\p{N}_-]+/gu, "-")}.workbench.json`;

function failure(id: number | null, sentence: string): Message {
  return { type: "failed", id, error: { sentence, line: null, trace: "", cycle: null, arguments: {} } };
}
