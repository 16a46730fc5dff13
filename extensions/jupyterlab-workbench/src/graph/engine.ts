// The layout worker as a promise: one picture at a time, within a deadline, ended by a newer one.

import type { Placed } from "./placed";
import source from "./engine.worker.ts?inline";

/** Where pictures are laid out. */
export interface Engine {
  /** Refused with a reason where it fails, takes more than `deadline` milliseconds, or is stopped. */
  place(dot: string, deadline: number): Promise<Placed>;
  /** Ends what is under way: its promise is refused. */
  stop(): void;
  /** Ends the worker too. */
  end(): void;
}

type Answer = { readonly placed: Placed } | { readonly problem: string };

/** A worker that has nothing to do for so many milliseconds is ended: it holds some 30 MB. */
const IDLE = 60_000;

let address: string | null = null;

export function createEngine(): Engine {
  let worker: Worker | null = null;
  let refuse: ((problem: Error) => void) | null = null;
  let timer = 0;

  function end(problem: string): void {
    window.clearTimeout(timer);
    worker?.terminate();
    worker = null;
    refuse?.(new Error(problem));
    refuse = null;
  }

  return {
    place(dot, deadline) {
      if (refuse) end("a newer picture was asked for");
      window.clearTimeout(timer);
      return new Promise((resolve, reject) => {
        refuse = reject;
        // A page may forbid workers; then the constructor throws, or the worker says an error.
        address ??= URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
        worker ??= new Worker(address);
        worker.onmessage = ({ data }: MessageEvent<Answer>) => {
          if ("problem" in data) {
            end(data.problem); // Graphviz' memory may be in disorder
            return;
          }
          refuse = null;
          window.clearTimeout(timer);
          timer = window.setTimeout(() => end(""), IDLE);
          resolve(data.placed);
        };
        worker.onerror = (event) => end(event.message || "the layout worker could not be started");
        timer = window.setTimeout(() => end(`it took more than ${Math.round(deadline / 1000)} s`), deadline);
        worker.postMessage(dot);
      });
    },
    stop() {
      if (refuse) end("it was stopped");
    },
    end: () => end("the picture was closed"),
  };
}
