// Profile: where the time of a measured run went, by scope, by kernel and by statement, beside what was predicted and
// beside another profile.

import { useCurrent, useSelection, useStore, useValues, useWorkbench } from "../../model/hooks";
import { nameOfKey } from "../../model/naming";
import { atSizes, onThreads, ratioText, SAME, secondsText, sizesText } from "../../model/numbers";
import { profilesOf, shownProfile } from "../../model/profiled";
import type { ProfileView, State } from "../../protocol";
import { dateText, nameOf } from "../compare/measured";
import { OtherPeaks } from "../memory/other-peaks";
import { peakOfProfile } from "../memory/peaks";
import { useRun } from "../run/ask";
import { RunFields } from "../run/fields";
import { NotMade } from "../run/not-made";
import { Others } from "../run/others";
import { Bars } from "./bars";
import { coloursOf } from "./colours";
import { Course } from "./course";
import { Roofline } from "./roofline";
import { Rows } from "./rows";

export function Profile(): JSX.Element {
  const state = useWorkbench();
  const current = useCurrent();
  const { profile: chosen, against } = useSelection();
  const shown = shownProfile(state, current.key, chosen);
  return (
    <div className="wbk-view wbk-profile">
      <ProfileForm />
      {shown ? (
        <Results key={shown.id} shown={shown} other={state.profiles.find(({ id }) => id === against && id !== shown.id)} />
      ) : (
        <Nothing />
      )}
    </div>
  );
}

function ProfileForm(): JSX.Element {
  const state = useWorkbench();
  const current = useCurrent();
  const { status } = useValues();
  const { backend } = useSelection();
  const { start, said } = useRun("profile");
  if (status === "saved") return <p className="wbk-note">Saved results. Run the notebook to profile more.</p>;
  const reason = state.backends.find((one) => one.name === backend)?.reason ?? "";
  const under = status === "connected" ? state.measuring : null;
  const profiling = under?.what === "profile";
  return (
    <form
      className="wbk-measure"
      onSubmit={(event) => {
        event.preventDefault();
        start(current.key);
      }}
    >
      <div className="wbk-bar">
        <button
          className="wbk-button wbk-primary wbk-begin"
          type="submit"
          disabled={reason !== "" || under !== null || status !== "connected"}
        >
          {profiling ? "Profiling …" : "Profile"}
        </button>
        <RunFields />
      </div>
      <p className="wbk-note">
        {profiling
          ? `Now: ${namesOf(state, under?.variants ?? [])}`
          : reason
            ? `${backend} cannot run here: ${reason}`
            : "The shown variant, in a process of its own; it takes as long as some of its runs."}
      </p>
      {said && (
        <p className="wbk-answer" role="alert">
          {said}
        </p>
      )}
      {!profiling && <NotMade view={state.unprofiled} what="profile" />}
    </form>
  );
}

const namesOf = (state: State, keys: readonly string[]): string =>
  keys.map((key) => nameOfKey(key, state.variants)).join(", ");

/** The pane before there is a profile of the shown variant. */
function Nothing(): JSX.Element {
  const state = useWorkbench();
  const { status } = useValues();
  return (
    <>
      <p className="wbk-nothing">
        {status === "saved" ? "What was saved holds no profile of this variant." : "This variant is not profiled yet."} A
        profile tells where the time of a run goes: by scope, by kernel and by statement, with operations and bytes,
        beside what was predicted.
      </p>
      <Others what="profiles" has={(key) => profilesOf(state, key).length > 0} />
    </>
  );
}

function Results({ shown, other }: { shown: ProfileView; other: ProfileView | undefined }): JSX.Element {
  const state = useWorkbench();
  const colours = coloursOf(state.profiles);
  const name = other ? nameOf(state, other) : "";
  return (
    <>
      <Head shown={shown} other={other} />
      <p className="wbk-total">
        <b>{secondsText(shown.seconds)}</b>{atSizes(shown.sizes)}
        {shown.predicted_seconds !== null && <>, predicted {secondsText(shown.predicted_seconds)}</>}
        {other && <>; {differenceText(shown, other, name)}</>}
        {shown.rounds < shown.planned && <>; stopped after {shown.rounds} of {shown.planned} rounds</>}
      </p>
      <p className="wbk-note">
        {onThreads(shown)}, {shown.dtype}, seed {shown.seed}; {shown.device}, {dateText(shown.date)}
      </p>
      <OtherPeaks here={peakOfProfile(shown)} variant={shown.variant} />
      <Summary lines={shown.summary} />
      <Course shown={shown} colours={colours} />
      <Bars shown={shown} other={other} name={name} colours={colours} />
      <Roofline shown={shown} colours={colours} />
      <Rows shown={shown} other={other} name={name} colours={colours} />
    </>
  );
}

/** How the parts add up; the lines behind the first, one a kernel, open on a click. */
function Summary({ lines: [first, ...more] }: { lines: readonly string[] }): JSX.Element {
  if (!more.length) return <p className="wbk-note">{first}</p>;
  return (
    <details className="wbk-note">
      <summary>{first}</summary>
      {more.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </details>
  );
}

/** Tells how two profiles differ, and whether they are of the same run. */
export function differenceText(shown: ProfileView, other: ProfileView, name: string): string {
  const ratio = ratioText(shown.seconds / other.seconds);
  const where: string[] = [];
  if (onThreads(other) !== onThreads(shown)) where.push(`on ${onThreads(other)}`);
  if (other.dtype !== shown.dtype) where.push(`in ${other.dtype}`);
  if (sizesText(other.sizes) !== sizesText(shown.sizes)) where.push(`at ${sizesText(other.sizes)}`);
  return `${ratio === SAME ? "same time as" : `time ${ratio} against`} ${name}${where.length ? `, which ran ${where.join(", ")}` : ""}`;
}

/** The choice of a profile of the shown variant, and of another to compare it with. */
function Head({ shown, other }: { shown: ProfileView; other: ProfileView | undefined }): JSX.Element {
  const state = useWorkbench();
  const store = useStore();
  const own = profilesOf(state, shown.variant);
  const others = state.profiles.filter(({ id }) => id !== shown.id);
  return (
    <div className="wbk-bar wbk-results-head">
      <h4>Results</h4>
      {own.length > 1 && (
        <select
          className="wbk-which"
          aria-label="Which profile"
          value={shown.id}
          onChange={(event) => store.select({ profile: event.target.value })}
        >
          {own.map((one) => (
            <option key={one.id} value={one.id}>
              {runText(one)}
            </option>
          ))}
        </select>
      )}
      {others.length > 0 && (
        <label className="wbk-field wbk-bar-end">
          <span>against</span>
          <select
            className="wbk-which"
            value={other?.id ?? ""}
            onChange={(event) => store.select({ against: event.target.value })}
          >
            <option value="">none</option>
            {others.map((one) => (
              <option key={one.id} value={one.id}>
                {nameOf(state, one)} – {runText(one)}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

const runText = (one: ProfileView): string =>
  [onThreads(one), one.dtype, sizesText(one.sizes), dateText(one.date)].filter(Boolean).join(", ");
