// Graphviz in a worker: DOT text in, places out. Only ending the worker interrupts it.

import { Graphviz } from "@hpcc-js/wasm-graphviz";
import { placed } from "./placed";

// What Graphviz complains of is seen in its places; on the console it would pass for an error of the page.
console.error = () => undefined;
const loading = Graphviz.load();

self.onmessage = async ({ data }: MessageEvent<string>): Promise<void> => {
  try {
    const graphviz = await loading;
    self.postMessage({ placed: placed(graphviz.layout(data, "json", "dot")) });
  } catch (problem) {
    self.postMessage({ problem: String(problem) });
  }
};
