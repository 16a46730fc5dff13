// The controls of the player: to the start, back, play, on; the scrubber; the speed.

import type { ReactNode } from "react";
import type { Clock } from "./clock";

/** The choice of speeds, in events a second. */
export const SPEEDS: readonly number[] = [1, 2, 5, 10, 30, 60];

const ICONS = {
  start: "M2 2h2v10H2zM12 2v10L5 7z",
  back: "M9 2v10L3 7zM10 2h1.6v10H10z",
  play: "M3.5 1.5v11l9-5.5z",
  pause: "M3 2h3v10H3zM8 2h3v10H8z",
  on: "M5 2v10l6-5zM2.4 2H4v10H2.4z",
} as const;

export function Controls(props: {
  clock: Clock;
  last: number;
  speed: number;
  setSpeed: (speed: number) => void;
  children: ReactNode;
}): JSX.Element {
  const { clock, last, speed, setSpeed, children } = props;
  const { at, playing } = clock;
  return (
    <div className="wbk-play-controls">
      <Press icon="start" label="To the start" disabled={at === 0} press={() => clock.go(0)} />
      <Press icon="back" label="One event back" disabled={at === 0} press={() => clock.go(at - 1)} />
      <Press icon={playing ? "pause" : "play"} label={playing ? "Pause" : "Play"} disabled={last === 0} press={clock.toggle} />
      <Press icon="on" label="One event on" disabled={at === last} press={() => clock.go(at + 1)} />
      <input
        type="range"
        aria-label="Event"
        aria-valuetext={`${at} of ${last}`}
        min={0}
        max={last}
        value={at}
        onChange={(event) => clock.go(Number(event.target.value))}
      />
      <label className="wbk-field">
        <span>speed</span>
        <select value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one} a second
            </option>
          ))}
        </select>
      </label>
      {children}
    </div>
  );
}

function Press(props: { icon: keyof typeof ICONS; label: string; disabled: boolean; press: () => void }): JSX.Element {
  const { icon, label, disabled, press } = props;
  return (
    <button className="wbk-icon wbk-play-press" type="button" aria-label={label} title={label} disabled={disabled} onClick={press}>
      <svg width={14} height={14} aria-hidden="true">
        <path d={ICONS[icon]} />
      </svg>
    </button>
  );
}
