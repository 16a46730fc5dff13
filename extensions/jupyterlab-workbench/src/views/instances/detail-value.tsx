// The value of the picked instance among the details of its statement, followed back from input to input.

import { useEffect, useState } from "react";
import { useOwnPart, useSelection, useStore } from "../../model/hooks";
import type { Sizes } from "../../model/selection";
import { Waiting } from "../../waiting";
import type { Node, Snapshot } from "../../protocol";
import { elementOf, pointOf, settable } from "./domain";
import { asElement, type Element, Value } from "./value";

/** The elements on the way here, and the sizes at which they all exist. */
interface Way {
  readonly trail: readonly Element[];
  readonly sizes: Sizes;
}

const NOWHERE: Way = { trail: [], sizes: {} };

export function DetailValue({ snapshot, node }: { snapshot: Snapshot; node: Node }): JSX.Element {
  const store = useStore();
  const { instance } = useSelection();
  const [way, setWay] = useState<Way>(NOWHERE);
  const here = way.trail.at(-1);
  if (!instance) {
    return (
      <button className="wbk-button wbk-link" type="button" onClick={() => store.select({ pane: "domain" })}>
        Pick an instance …
      </button>
    );
  }
  if (here?.statement !== node.id || !areSame(here.instance, instance)) {
    return <Picked snapshot={snapshot} node={node} instance={instance} start={setWay} />;
  }
  const go = (trail: readonly Element[]): void => {
    const to = trail.at(-1);
    setWay({ ...way, trail });
    if (to?.statement) store.select({ statements: [to.statement], scope: null, instance: to.instance });
  };
  return (
    <Value
      trail={way.trail}
      sizes={way.sizes}
      follow={(element) => {
        const next = asElement(element);
        const known = way.trail.findIndex((one) => one.text === next.text);
        if (next.statement !== null) go(known >= 0 ? way.trail.slice(0, known + 1) : [...way.trail, next]);
      }}
      back={(position) => go(way.trail.slice(0, position + 1))}
    />
  );
}

/** Finds the element that the instance writes. */
function Picked(props: {
  snapshot: Snapshot;
  node: Node;
  instance: Sizes;
  start: (way: Way) => void;
}): JSX.Element {
  const { snapshot, node, instance, start } = props;
  const loaded = useOwnPart("domain", { statements: [node.id], sizes: {} });
  const [points] = loaded.value?.statements ?? [];
  const point = points ? pointOf(points, instance) : -1;
  useEffect(() => {
    if (!loaded.value || !points || point < 0) return;
    start({ trail: [elementOf(points, point)], sizes: settable(loaded.value, snapshot) });
  }, [loaded.value, point]);
  if (loaded.value && point < 0) {
    return <p className="wbk-hint">The picked instance is not there at small sizes: Instances shows it at larger ones.</p>;
  }
  return <Waiting loaded={loaded} what="the instance" />;
}

function areSame(one: Sizes, other: Sizes): boolean {
  const names = Object.keys({ ...one, ...other });
  return names.every((name) => one[name] === other[name]);
}
