// Asking for a change: what is being done, and why it could not be.

import { useState } from "react";
import { useStore } from "./hooks";
import type { Asked } from "./store";

/** Asks; `doing` says meanwhile what takes its time ("" where nothing needs to be said). */
export type Ask = (request: Asked, doing?: string) => void;

export interface Asking {
  readonly ask: Ask;
  /** Whether an answer is awaited. */
  readonly busy: boolean;
  /** What is going on or was done. */
  readonly doing: string;
  /** The sentence why the last request could not be met. */
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
