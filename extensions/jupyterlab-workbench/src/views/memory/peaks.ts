// The peaks that Memory, Run and Profile tell of a variant, each of a run on its own number of threads.

import type { MemoryView, ProfileView, RunView } from "../../protocol";
import { bytesText } from "../../model/numbers";

export interface Peak {
  readonly pane: "Memory" | "Run" | "Profile";
  readonly bytes: number;
  readonly backend: string;
  readonly threads: number;
  readonly dtype: string;
  readonly sizes: Readonly<Record<string, number>>;
}

export function peakOfMemory(view: MemoryView): Peak {
  const bytes = view.spaces.find(({ space }) => space === "device")?.peak_bytes ?? 0;
  return { pane: "Memory", bytes, ...settingOf(view, view.threads) };
}

/** Null while it is not known. */
export function peakOfRun(run: RunView): Peak | null {
  const bytes = run.peak_bytes["device"];
  return bytes === undefined || run.threads === null ? null : { pane: "Run", bytes, ...settingOf(run, run.threads) };
}

/** Null without a course. */
export function peakOfProfile(profile: ProfileView): Peak | null {
  const held = profile.course?.held.filter((_, at) => at % 2 === 1) ?? [];
  return held.length ? { pane: "Profile", bytes: Math.max(...held), ...settingOf(profile, profile.threads) } : null;
}

type Setting = Pick<Peak, "backend" | "dtype" | "sizes">;

const settingOf = ({ backend, dtype, sizes }: Setting, threads: number): Setting & Pick<Peak, "threads"> => ({
  backend, threads, dtype, sizes,
});

/** Tells which peaks of the same run in other panes differ from this one, and why; "" where none does. */
export function otherPeaksText(here: Peak, all: readonly (Peak | null | undefined)[]): string {
  const others = all.flatMap((one) => (one && isOtherwise(one, here) ? [one] : []));
  if (!others.length) return "";
  const told = others.map(({ pane, bytes, backend, threads }) => `${pane} tells ${bytesText(bytes)}, on ${backend} with ${counted(threads)}`);
  const isAlike = ({ threads, backend }: Peak): boolean => threads === here.threads && backend === here.backend;
  const isOfRun = here.pane === "Run" || others.some((one) => one.pane === "Run" && isAlike(one));
  const why = [
    ...(others.some(({ threads }) => threads !== here.threads) ? ["Each thread has a block's arrays of its own."] : []),
    ...(isOfRun && others.some(isAlike) ? ["A run keeps what another one goes on from."] : []),
  ];
  const said = `The peak is ${bytesText(here.bytes)} here, on ${here.backend} with ${counted(here.threads)}; ${told.join("; ")}.`;
  return [said, ...why].join(" ");
}

const counted = (threads: number): string => (threads === 1 ? "1 thread" : `${threads} threads`);

function isOtherwise(one: Peak, here: Peak): boolean {
  const isSameSize = Object.entries(here.sizes).every(([name, size]) => one.sizes[name] === size);
  return one.pane !== here.pane && isSameSize && one.dtype === here.dtype && bytesText(one.bytes) !== bytesText(here.bytes);
}
