// The graph as a view: the picture of the current variant, kept in step with the selection.

import { useEffect, useRef } from "react";
import { useCurrent, usePart, useSelection, useStore } from "../model/hooks";
import { key, scopes } from "../model/scopes";
import { Waiting } from "../parts";
import type { Snapshot } from "../protocol";
import { createGraph, type Graph } from "./graph";
import { legend } from "./legend";
import { createSearch } from "./search";
import { createSelection, NOTHING, type Selected } from "./selected";

export function GraphView(): JSX.Element {
  const current = useCurrent();
  const loaded = usePart("snapshot", {}, current.key);
  if (!loaded.value) return <Waiting loaded={loaded} what="the graph" />;
  return <Picture snapshot={loaded.value} />;
}

function Picture({ snapshot }: { snapshot: Snapshot }): JSX.Element {
  const store = useStore();
  const selection = useSelection();
  const host = useRef<HTMLDivElement>(null);
  const graph = useRef<Graph | null>(null);
  const selected = useRef(createSelection());

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const shared = createSelection();
    selected.current = shared;
    const made = createGraph(snapshot, shared);
    graph.current = made;
    const tools = document.createElement("div");
    tools.className = "wbk-tools";
    tools.append(createSearch(snapshot, made));
    element.replaceChildren(tools, made.element, legend(snapshot));
    shared.onChange((now) => {
      if (now.kind === "statement") store.select({ statements: [now.id], scope: null, instance: null });
      else if (now.kind === "scope") {
        store.select({ statements: [], scope: scopes(snapshot)[Number(now.name.slice(1))] ?? null });
      } else store.select({ statements: [], scope: null, instance: null });
    });
    return () => made.destroy();
  }, [snapshot, store]);

  useEffect(() => {
    const wanted = asSelected(snapshot, selection.statements[0], selection.scope);
    const now = selected.current.current;
    if (JSON.stringify(wanted) === JSON.stringify(now)) return;
    if (wanted.kind === "statement") graph.current?.show(wanted.id);
    else selected.current.select(wanted);
  }, [snapshot, selection.statements, selection.scope]);

  return <div className="wbk-picture" ref={host} />;
}

function asSelected(
  snapshot: Snapshot,
  id: string | undefined,
  scope: readonly string[] | null,
): Selected {
  if (id !== undefined) return { kind: "statement", id };
  if (!scope) return NOTHING;
  return { kind: "scope", name: `s${scopes(snapshot).findIndex((path) => key(path) === key(scope))}` };
}
