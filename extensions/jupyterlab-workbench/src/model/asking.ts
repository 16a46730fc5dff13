// Requests for a change: the one under way, and the reason why one failed.

import { useState } from "react";
import { useStore, useValues } from "./hooks";
import { type Asked, Unanswered, UNANSWERED } from "./store";

/** Asks; `doing` names a slow task meanwhile ("" for a quick one). */
export type Ask = (request: Asked, doing?: string) => void;

export interface Asking {
  readonly ask: Ask;
  /** True if an answer is awaited. */
  readonly busy: boolean;
  /** The present or last task. */
  readonly doing: string;
  /** The reason in a sentence why the last request could not be met. */
  readonly said: string;
  tell(sentence: string): void;
  forget(): void;
}

export function useAsking(): Asking {
  const store = useStore();
  const { status } = useValues();
  const [failure, setFailure] = useState<unknown>(null);
  const [doing, setDoing] = useState("");
  const [busy, setBusy] = useState(false);
  return {
    busy,
    doing,
    // Of a connection that is there again, or lost in another way, the reason is another one.
    said: failure instanceof Unanswered ? UNANSWERED[status] : textOf(failure),
    tell: setDoing,
    forget: () => setFailure(null),
    ask(request, what = "") {
      setFailure(null);
      setDoing(what);
      setBusy(true);
      store
        .ask(request)
        .catch(setFailure)
        .finally(() => {
          setDoing("");
          setBusy(false);
        });
    },
  };
}

function textOf(failure: unknown): string {
  if (failure === null) return "";
  return failure instanceof Error ? failure.message : String(failure);
}
