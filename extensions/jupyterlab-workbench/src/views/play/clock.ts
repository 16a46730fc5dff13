// The time of a player: a position that goes on by itself while it plays.

import { useEffect, useRef, useState } from "react";

export interface Clock {
  readonly at: number;
  readonly playing: boolean;
  /** Goes to a position, and stays there. */
  go(to: number): void;
  /** Plays on, from the start where it is at the end, or pauses. */
  toggle(): void;
}

/** Runs from 0 to `last`, by `speed` positions in a second. */
export function useClock(last: number, speed: number): Clock {
  const [at, setAt] = useState(0);
  const [playing, setPlaying] = useState(false);
  const left = useRef(0);
  const here = Math.min(at, last);

  useEffect(() => {
    if (!playing) return undefined;
    let then = performance.now();
    let frame = requestAnimationFrame(tick);
    function tick(now: number): void {
      left.current += ((now - then) / 1000) * speed;
      then = now;
      const steps = Math.floor(left.current);
      left.current -= steps;
      if (steps > 0) setAt((old) => Math.min(last, old + steps));
      frame = requestAnimationFrame(tick);
    }
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, last]);

  useEffect(() => {
    if (playing && here >= last) setPlaying(false);
  }, [playing, here, last]);

  return {
    at: here,
    playing,
    go(to) {
      setPlaying(false);
      setAt(Math.max(0, Math.min(last, to)));
    },
    toggle() {
      if (!playing && here >= last) setAt(0);
      left.current = 0;
      setPlaying(!playing);
    },
  };
}
