// The menu of a variant: its recipe, its name, its steps elsewhere, its end.

import { useState } from "react";
import { copy } from "../../model/files";
import { useStore, useValues, useWorkbench } from "../../model/hooks";
import type { VariantView } from "../../protocol";
import type { Ask } from "../../model/asking";
import { family, stepsSince } from "../compare/measured";

export function Rename(props: { variant: VariantView; ask: Ask; close: () => void }): JSX.Element {
  const { variant, ask, close } = props;
  const [name, setName] = useState(variant.named ? variant.name : "");
  return (
    <form
      className="wbk-rename"
      onSubmit={(event) => {
        event.preventDefault();
        close();
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
        onBlur={close}
        onKeyDown={(event) => event.key === "Escape" && close()}
      />
    </form>
  );
}

export function Menu(props: {
  variant: VariantView;
  ask: Ask;
  drop: (variant: string, onto: string) => void;
  tell: (sentence: string) => void;
  rename: () => void;
}): JSX.Element {
  const { variant, ask, drop, tell, rename } = props;
  const state = useWorkbench();
  const { status } = useValues();
  const { transport, select } = useStore();
  const [removing, setRemoving] = useState(false);
  const saved = status === "saved";
  const lost = family(state, variant.key).length;
  const close = (event: React.MouseEvent): void =>
    (event.currentTarget as HTMLElement).closest("details")?.removeAttribute("open");
  const insert = transport.insertCell;
  return (
    <details
      className="wbk-more"
      onToggle={({ currentTarget }) => {
        setRemoving(false);
        if (currentTarget.open) currentTarget.lastElementChild?.scrollIntoView({ block: "nearest" });
      }}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) event.currentTarget.removeAttribute("open");
      }}
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.removeAttribute("open")}
    >
      <summary aria-label={`More for ${variant.name}`} title="More">
        ⋯
      </summary>
      <div className="wbk-more-list" onClick={(event) => removing || close(event)}>
        <button type="button" onClick={() => void copy(variant.recipe).then(() => tell("The recipe is copied."))}>
          Copy recipe
        </button>
        {insert && (
          <button type="button" onClick={() => insert(variant.recipe)}>
            Insert recipe as a cell
          </button>
        )}
        {variant.key === state.current ? (
          <button type="button" onClick={() => select({ pane: "play" })}>
            Play its schedule
          </button>
        ) : (
          <button type="button" onClick={() => select({ pane: "play", beside: variant.key })}>
            Play its schedule beside the shown one
          </button>
        )}
        {!saved && (
          <button type="button" onClick={rename}>
            Rename
          </button>
        )}
        {!saved && variant.key !== state.current && stepsSince(state, variant.key, state.current) > 0 && (
          <button type="button" onClick={() => drop(variant.key, state.current)}>
            Take its steps on the shown variant
          </button>
        )}
        {!saved && variant.parent !== null && (
          <button
            type="button"
            className="wbk-danger"
            onClick={(event) => {
              event.stopPropagation();
              if (!removing && lost > 1) return setRemoving(true);
              return ask({ type: "remove", variant: variant.key });
            }}
          >
            {removing ? `Remove it and ${lost - 1} that came from it` : "Remove"}
          </button>
        )}
      </div>
    </details>
  );
}
