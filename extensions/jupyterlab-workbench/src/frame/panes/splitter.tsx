// The bar between graph and panes. It is dragged, or moved with the arrow keys; its place is remembered.

import { useState } from "react";

const LEAST = 0.2;
const MOST = 0.8;
const AT_FIRST = { wide: 0.45, tall: 0.5 };

/** The share of the room that the panes take. */
export function useShare(wide: boolean): readonly [number, (share: number) => void] {
  const [wideShare, setWide] = useState(() => remembered("wide"));
  const [tallShare, setTall] = useState(() => remembered("tall"));
  const change = (share: number): void => {
    const kept = Math.min(MOST, Math.max(LEAST, share));
    (wide ? setWide : setTall)(kept);
    remember(wide ? "wide" : "tall", kept);
  };
  return [wide ? wideShare : tallShare, change];
}

export function Splitter(props: { wide: boolean; share: number; change: (share: number) => void }): JSX.Element {
  const { wide, share, change } = props;
  const [less, more] = wide ? ["ArrowRight", "ArrowLeft"] : ["ArrowDown", "ArrowUp"];
  return (
    <div
      className="wbk-splitter"
      role="separator"
      tabIndex={0}
      aria-label="Size of the pane"
      aria-orientation={wide ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={LEAST * 100}
      aria-valuemax={MOST * 100}
      title="Drag to resize; double click for the size at first"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        const room = event.currentTarget.parentElement?.getBoundingClientRect();
        if (!room) return;
        change(wide ? (room.right - event.clientX) / room.width : (room.bottom - event.clientY) / room.height);
      }}
      onDoubleClick={() => change(wide ? AT_FIRST.wide : AT_FIRST.tall)}
      onKeyDown={(event) => {
        if (event.key === less) change(share - 0.05);
        else if (event.key === more) change(share + 0.05);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}

type Way = keyof typeof AT_FIRST;

const name = (way: Way): string => `workbench:share:${way}`;

/** Returns the remembered share. A page opened from a file, or one without cookies, may have no storage. */
function remembered(way: Way): number {
  try {
    const share = Number(localStorage.getItem(name(way)));
    return share >= LEAST && share <= MOST ? share : AT_FIRST[way];
  } catch {
    return AT_FIRST[way];
  }
}

function remember(way: Way, share: number): void {
  try {
    localStorage.setItem(name(way), String(share));
  } catch {
    // nothing is remembered then
  }
}
