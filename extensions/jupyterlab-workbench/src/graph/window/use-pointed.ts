// What the reader points at: lit at once, said after a moment, and said until the pointer has left what is said too.

import { useCallback, useEffect, useRef, useState } from "react";
import type { Pointed } from "../tooltip";

/** Milliseconds before something is said of what is pointed at, and before that goes again. */
const [LATER, LONGER] = [350, 220];

/** Stands for what is said itself, where it is pointed at. */
const SAID = "said";

export interface Pointing {
  /** What is lit. */
  readonly over: Pointed | null;
  /** What something is said of. */
  readonly said: Pointed | null;
  point(at: Pointed | null): void;
  /** Says it at once, for the keyboard; null ends it at once. */
  say(at: Pointed | null): void;
  /** The pointer went into what is said: it stays. */
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
