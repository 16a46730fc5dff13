// Requests for a change: the one under way, and the reason why one failed.

import { useState } from "react";
import { useStore } from "./hooks";
import type { Asked } from "./store";

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
  const [said, setSaid] = useState("");
  const [doing, setDoing] = useState("");
  const [busy, setBusy] = useState(false);
  return {
    busy,
    doing,
    said,
    tell: setDoing,
    forget: () => setSaid(""),
    ask(request, what = "") {
      setSaid("");
      setDoing(what);
      setBusy(true);
      store
        .ask(request)
        .catch((error: unknown) => setSaid(error instanceof Error ? error.message : String(error)))
        .finally(() => {
          setDoing("");
          setBusy(false);
        });
    },
  };
}
