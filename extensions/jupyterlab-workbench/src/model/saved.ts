// A transport without Python: it answers from what was saved.

import type { Capsule, Message, Request } from "../protocol";
import { PROTOCOL } from "../protocol";
import { partKey } from "./parts";
import type { Transport } from "./transport";

export function savedTransport(saved: unknown, more: Pick<Transport, "openPanel"> = {}): Transport {
  const answer = isSigned(saved)
    ? saved.protocol === PROTOCOL
      ? answersOf(saved as Capsule)
      : () => [{ type: "welcome", ...signed(saved), workbenches: [] } as const]
    : () => [failure(null, "This is not a workbench that was saved.")];
  const listeners = new Set<(message: Message) => void>();
  return {
    ...more,
    status: () => "saved",
    onStatus: () => () => undefined,
    onMessage(heard) {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    send(request: Request) {
      // Later, as an answer from Python would be: whoever asks may be drawing just now.
      queueMicrotask(() => {
        for (const message of answer(request)) for (const listener of [...listeners]) listener(message);
      });
    },
  };
}

type Signed = Pick<Capsule, "protocol" | "release">;

/** Who wrote it can be told whatever release that was. */
function isSigned(saved: unknown): saved is Signed {
  if (typeof saved !== "object" || saved === null) return false;
  const { protocol, release } = saved as Record<string, unknown>;
  return typeof protocol === "number" && typeof release === "string";
}

function answersOf(capsule: Capsule): (request: Request) => readonly Message[] {
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
        state = { ...state, current: request.variant, revision: state.revision + 1 };
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
  return { type: "failed", id, error: { sentence, line: null, trace: "" } };
}
