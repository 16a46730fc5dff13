// A transport without Python: it answers from what was saved.

import type { Capsule, Message, Request } from "../protocol";
import { PROTOCOL } from "../protocol";
import { partKey } from "./parts";
import type { Transport } from "./transport";

export function savedTransport(capsule: Capsule): Transport {
  const listeners = new Set<(message: Message) => void>();
  const parts = new Map(
    capsule.parts.map((saved) => [partKey(saved.part, saved.variant, saved.arguments), saved.value]),
  );
  const say = (message: Message): void => {
    for (const listener of [...listeners]) listener(message);
  };
  return {
    status: () => "saved",
    onStatus: () => () => undefined,
    onMessage(heard) {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    send(request: Request) {
      // Later, as an answer from Python would be: whoever asks may be drawing just now.
      queueMicrotask(() => {
        if (request.type === "hello") {
          const { protocol, release, state } = capsule;
          say({ type: "welcome", protocol, release, workbenches: [state.workbench] });
          if (protocol === PROTOCOL) say({ type: "state", state, open: false });
        } else if (request.type === "want") {
          const value = parts.get(partKey(request.part, request.variant, request.arguments));
          if (value !== undefined) say({ type: "part", id: request.id, value, done: true });
        }
      });
    },
  };
}
