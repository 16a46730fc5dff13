// The engine of a view, as long as the view is drawn.

import { useEffect, useState } from "react";
import { createEngine, type Engine } from "./engine";

/** Holds a layout engine, made ready while a picture is `awaited`. */
export function useEngine(awaited: boolean): Engine {
  const [engine] = useState(createEngine);
  useEffect(() => {
    if (awaited) engine.wake();
  }, [engine, awaited]);
  useEffect(() => engine.end, [engine]);
  return engine;
}
