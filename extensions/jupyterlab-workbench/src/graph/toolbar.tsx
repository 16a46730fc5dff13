// The graph's tools: search, zoom, open scopes, colouring of boxes.

import { useEffect, useState } from "react";
import type { Overlay } from "../model/selection";
import type { Snapshot } from "../protocol";
import { OVERLAYS } from "./drawing/overlay";
import { found } from "./search";

export interface Tools {
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
  readonly openAll: (all: boolean) => void;
  readonly mark: (ids: ReadonlySet<string> | null) => void;
  readonly show: (id: string) => void;
  /** Gives the focus to the graph: to the box that was shown last, if any. */
  readonly enter: () => void;
  readonly colour: (overlay: Overlay) => void;
}

export function Toolbar(props: {
  readonly snapshot: Snapshot;
  readonly tools: Tools;
  readonly overlay: Overlay;
  readonly changed: boolean;
}): JSX.Element {
  const { snapshot, tools, overlay, changed } = props;
  const scoped = snapshot.nodes.some((node) => node.scope.length);
  return (
    <div className="wbk-tools" role="toolbar" aria-label="Graph">
      <Search snapshot={snapshot} tools={tools} />
      <label className="wbk-colour" title="What the boxes are coloured by">
        <span>Colour by </span>
        <select
          aria-label="Colour by"
          className="wbk-select"
          value={overlay}
          onChange={(event) => {
            const chosen = OVERLAYS.find(([name]) => name === event.target.value);
            if (chosen) tools.colour(chosen[0]);
          }}
        >
          {OVERLAYS.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <span className="wbk-space" />
      {scoped && (
        <Button
          text={changed ? "Overview" : "Open all"}
          says={
            changed
              ? "Close the scopes that were closed at first"
              : "Open every scope: a box that stands for the statements of one part of the program"
          }
          press={() => tools.openAll(!changed)}
        />
      )}
      <span className="wbk-buttons">
        <Button text="−" name="Zoom out" says="Zoom out (−)" press={() => tools.zoom(1 / 1.3)} />
        <Button text="+" name="Zoom in" says="Zoom in (+)" press={() => tools.zoom(1.3)} />
        <Button text="Fit" name="Fit: show the whole graph" says="Show the whole graph (F)" press={tools.fit} />
      </span>
    </div>
  );
}

/** `name` is what a sign is called by those who do not see it; a word is its own name. */
function Button(props: { text: string; name?: string; says: string; press: () => void }): JSX.Element {
  const { text, name, says, press } = props;
  return (
    <button className="wbk-button" type="button" title={says} {...(name && { "aria-label": name })} onClick={press}>
      {text}
    </button>
  );
}

/** A search that lights the statements with the text; Enter goes from one to the next, as do two buttons. */
function Search({ snapshot, tools }: { snapshot: Snapshot; tools: Tools }): JSX.Element {
  const [text, setText] = useState("");
  /** The place of the hit that was gone to last, from 0. */
  const [at, setAt] = useState<number | null>(null);
  const ids = found(snapshot, text);
  const wanted = text.trim() !== "";
  const { mark } = tools;
  useEffect(() => mark(wanted ? new Set(found(snapshot, text)) : null), [snapshot, text, wanted, mark]);

  function go(by: 1 | -1): void {
    const next = at === null ? (by > 0 ? 0 : ids.length - 1) : (at + by + ids.length) % ids.length;
    const id = ids[next];
    if (id === undefined) return;
    setAt(next);
    tools.show(id);
  }

  function press(event: React.KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") {
      if (text) setText("");
      else tools.enter();
    }
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
  }

  return (
    <span className="wbk-search-box">
      <input
        className="wbk-search"
        type="search"
        placeholder="Search"
        aria-label="Search statements"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(null);
        }}
        onKeyDown={press}
      />
      <span className="wbk-count" role="status">
        {wanted ? `${at === null ? "" : `${at + 1} of `}${ids.length} found` : ""}
      </span>
      {wanted && ids.length > 1 && (
        <span className="wbk-hits">
          <Step text="‹" name="The hit before (Shift Enter)" press={() => go(-1)} />
          <Step text="›" name="The next hit (Enter)" press={() => go(1)} />
        </span>
      )}
    </span>
  );
}

function Step({ text, name, press }: { text: string; name: string; press: () => void }): JSX.Element {
  return (
    <button className="wbk-icon" type="button" title={name} aria-label={name} onClick={press}>
      {text}
    </button>
  );
}
