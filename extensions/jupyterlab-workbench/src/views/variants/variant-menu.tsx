// The menu of a variant: its recipe, its name, its steps elsewhere, its end.

import { useState } from "react";
import { type Item, Menu } from "../../frame/menu";
import { copy } from "../../model/files";
import { useStore, useValues, useWorkbench } from "../../model/hooks";
import type { VariantView } from "../../protocol";
import type { Ask } from "../../model/asking";
import { family, stepsSince } from "../compare/measured";

/** `close` hears whether the focus is to go back to the name. */
export function Rename(props: { variant: VariantView; ask: Ask; close: (back: boolean) => void }): JSX.Element {
  const { variant, ask, close } = props;
  const [name, setName] = useState(variant.named ? variant.name : "");
  return (
    <form
      className="wbk-rename"
      onSubmit={(event) => {
        event.preventDefault();
        close(true);
        ask({ type: "rename", variant: variant.key, name: name.trim() });
      }}
    >
      <input
        type="text"
        autoFocus
        aria-label="Name of the variant"
        placeholder={variant.step?.text ?? "as written"}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onBlur={() => close(false)}
        onKeyDown={(event) => event.key === "Escape" && close(true)}
      />
    </form>
  );
}

export function More(props: {
  variant: VariantView;
  ask: Ask;
  drop: (variant: string, onto: string) => void;
  tell: (sentence: string) => void;
  rename: () => void;
}): JSX.Element {
  const { variant, ask, drop, tell, rename } = props;
  const { key, name, parent, recipe } = variant;
  const state = useWorkbench();
  const { status } = useValues();
  const { transport, select } = useStore();
  const saved = status === "saved";
  const isShown = key === state.current;
  const lost = family(state, key).length;
  const insert = transport.insertCell;
  const item = (label: string, run: () => void, warning?: string): Item => ({
    name: label,
    label,
    refused: "",
    run,
    ...(warning === undefined ? {} : { warning }),
  });

  function items(): readonly (readonly Item[])[] {
    const steps = [item("Copy recipe", () => void copy(recipe).then(() => tell("The recipe is copied.")))];
    if (insert) steps.push(item("Insert recipe as a cell", () => insert(recipe)));
    if (isShown) steps.push(item("Play its schedule", () => select({ pane: "play" })));
    else steps.push(item("Play its schedule beside the shown one", () => select({ pane: "play", beside: key })));
    if (saved) return [steps];
    const changes = [item("Rename", rename)];
    if (!isShown && stepsSince(state, key, state.current) > 0) {
      changes.push(item("Take its steps on the shown variant", () => drop(key, state.current)));
    }
    if (parent !== null) {
      const warning = lost > 1 ? `Remove it and ${lost - 1} that came from it` : "";
      changes.push(item("Remove", () => ask({ type: "remove", variant: key }), warning));
    }
    return [steps, changes];
  }

  return <Menu label="⋯" title={`More for ${name}`} isIcon items={items} />;
}
