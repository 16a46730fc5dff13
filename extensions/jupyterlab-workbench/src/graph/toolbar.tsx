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
          aria-label="Colour the boxes by"
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
          label={changed ? "Close the scopes that were closed at first" : "Open every scope"}
          press={() => tools.openAll(!changed)}
        />
      )}
      <span className="wbk-buttons">
        <Button text="−" label="Zoom out" press={() => tools.zoom(1 / 1.3)} />
        <Button text="+" label="Zoom in" press={() => tools.zoom(1.3)} />
        <Button text="Fit" label="Show the whole graph" press={tools.fit} />
      </span>
    </div>
  );
}

function Button({ text, label, press }: { text: string; label: string; press: () => void }): JSX.Element {
  return (
    <button className="wbk-button" type="button" title={label} aria-label={label} onClick={press}>
      {text}
    </button>
  );
}

/** A search that lights the statements with the text; Enter goes from one to the next. */
function Search({ snapshot, tools }: { snapshot: Snapshot; tools: Tools }): JSX.Element {
  const [text, setText] = useState("");
  const [next, setNext] = useState(0);
  const ids = found(snapshot, text);
  const wanted = text.trim() !== "";
  const { mark } = tools;
  useEffect(() => mark(wanted ? new Set(found(snapshot, text)) : null), [snapshot, text, wanted, mark]);

  function press(event: React.KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") setText("");
    const id = ids[next % Math.max(1, ids.length)];
    if (event.key !== "Enter" || id === undefined) return;
    setNext((next + (event.shiftKey ? -1 : 1) + ids.length) % ids.length);
    tools.show(id);
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
          setNext(0);
        }}
        onKeyDown={press}
      />
      <span className="wbk-count" role="status">
        {wanted ? `${ids.length} found` : ""}
      </span>
    </span>
  );
}
