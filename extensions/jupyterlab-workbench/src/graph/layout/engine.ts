// The layout worker as a promise: one picture at a time, within a deadline, ended by a newer one.

import type { Placed } from "./placed";
import source from "./engine.worker.ts?inline";

/** A layout engine. */
export interface Engine {
  /** Lays out a picture. Rejects with a reason where it fails, takes more than `deadline` milliseconds, or is
   * stopped. */
  place(dot: string, deadline: number): Promise<Placed>;
  /** Starts the worker, since a picture will be asked for soon. */
  wake(): void;
  /** Ends the current layout: its promise is rejected. */
  stop(): void;
  /** Ends the worker too. */
  end(): void;
}

type Answer = { readonly placed: Placed } | { readonly problem: string };

/** Milliseconds without work after which the worker is ended: it holds some 30 MB. */
const IDLE = 60_000;

/** The number of remembered pictures: going back to a variant needs no layout, nor does a step that only moves
 * storage. */
const REMEMBERED = 12;

let address: string | null = null;

export function createEngine(): Engine {
  let worker: Worker | null = null;
  let refuse: ((problem: Error) => void) | null = null;
  let under: { readonly dot: string; readonly placed: Promise<Placed> } | null = null;
  let timer = 0;
  const known = new Map<string, Placed>();

  function end(problem: string): void {
    window.clearTimeout(timer);
    worker?.terminate();
    worker = null;
    refuse?.(new Error(problem));
    refuse = under = null;
  }

  /** Starts the worker. A page may forbid workers: then the constructor throws, or the worker reports an error. */
  function started(): Worker {
    address ??= URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    worker ??= new Worker(address);
    worker.onerror = (event) => end(event.message || "the layout worker could not be started");
    return worker;
  }

  function rest(): void {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => end(""), IDLE);
  }

  function remember(dot: string, placed: Placed): void {
    known.delete(dot);
    known.set(dot, placed);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
  }

  return {
    place(dot, deadline) {
      if (under?.dot === dot) return under.placed;
      if (under) end("a newer picture was asked for");
      const there = known.get(dot);
      if (there) {
        remember(dot, there);
        return Promise.resolve(there);
      }
      window.clearTimeout(timer);
      const placed = new Promise<Placed>((resolve, reject) => {
        const running = started();
        refuse = reject;
        running.onmessage = ({ data }: MessageEvent<Answer>) => {
          if ("problem" in data) {
            end(data.problem); // Graphviz' memory may be in disorder
            return;
          }
          refuse = under = null;
          rest();
          remember(dot, data.placed);
          resolve(data.placed);
        };
        timer = window.setTimeout(() => end(`it took more than ${Math.round(deadline / 1000)} s`), deadline);
        running.postMessage(dot);
      });
      under = refuse && { dot, placed };
      return placed;
    },
    wake() {
      if (under) return;
      try {
        started();
        rest();
      } catch {
        end(""); // the picture that is asked for then says why there is none
      }
    },
    stop() {
      if (under) end("it was stopped");
    },
    end: () => end("the picture was closed"),
  };
}
