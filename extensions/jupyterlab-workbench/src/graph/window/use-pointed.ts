// The object that the reader points at: lit at once, explained after a moment, until the pointer has left the
// explanation too.

import { useCallback, useEffect, useRef, useState } from "react";
import type { Pointed } from "../tooltip";

/** Milliseconds before an explanation comes, and before it goes again. */
const [LATER, LONGER] = [350, 220];

/** Stands for the explanation, where the pointer is on it. */
const SAID = "said";

export interface Pointing {
  /** The lit object. */
  readonly over: Pointed | null;
  /** The explained object. */
  readonly said: Pointed | null;
  point(at: Pointed | null): void;
  /** Explains it at once, for the keyboard; null ends it at once. */
  say(at: Pointed | null): void;
  /** The pointer went into the explanation: it stays. */
  keep(): void;
}

export function usePointed(): Pointing {
  const [over, setOver] = useState<Pointed | null>(null);
  const [said, setSaid] = useState<Pointed | null>(null);
  const timer = useRef(0);
  const current = useRef<string | null>(null);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  const point = useCallback((at: Pointed | null) => {
    if ((at?.id ?? null) === current.current) return;
    current.current = at?.id ?? null;
    setOver(at);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setSaid(at), at ? LATER : LONGER);
  }, []);
  const say = useCallback((at: Pointed | null) => {
    window.clearTimeout(timer.current);
    current.current = at?.id ?? null;
    setOver(at);
    setSaid(at);
  }, []);
  const keep = useCallback(() => {
    window.clearTimeout(timer.current);
    current.current = SAID; // so that leaving it is leaving something
  }, []);
  return { over, said, point, say, keep };
}
