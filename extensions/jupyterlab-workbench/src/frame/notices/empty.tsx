// The view in place of a workbench: none yet, no Jupyter kernel, something that cannot be read.

import { useStore, useValues } from "../../model/hooks";
import { FirstProgram } from "./first-program";
import { Offered, useOffers } from "./offered";

export function Empty(): JSX.Element {
  const { status, problem, welcomed } = useValues();
  if (problem) return <Told title="This cannot be shown here" text={problem} alert />;
  switch (status === "connected" && !welcomed ? "connecting" : status) {
    case "waiting":
      return (
        <Told title="Waiting for the Jupyter kernel" text="It answers once it has started, or when the cell that runs has ended." busy />
      );
    case "connecting":
      return <Told title="Connecting" text="Waiting for the Jupyter kernel to answer …" busy />;
    case "disconnected":
      return (
        <Told
          title="No Jupyter kernel"
          text="Start the notebook's Jupyter kernel and run a cell that shows a workbench."
        />
      );
    case "saved":
      return <Told title="Opening" text="Reading what was saved …" busy />;
    default:
      return <NoWorkbench />;
  }
}

function NoWorkbench(): JSX.Element {
  const { insertCell } = useStore().transport;
  const offers = useOffers();
  if (insertCell && offers.length) {
    return (
      <Told title="No workbench yet" text="Show a program of this notebook:">
        <Offered offers={offers} insertCell={insertCell} />
        <details>
          <summary>Begin with a small program</summary>
          <FirstProgram />
        </details>
      </Told>
    );
  }
  return (
    <Told
      title="No program yet"
      text="Run wb.Workbench(program) in a cell, with a program that you have, or begin with this one:"
    >
      <FirstProgram />
    </Told>
  );
}

function Told(props: {
  title: string;
  text: string;
  busy?: boolean;
  alert?: boolean;
  children?: React.ReactNode;
}): JSX.Element {
  return (
    <div className="wbk-empty" role={props.alert ? "alert" : "status"}>
      {props.busy ? <span className="wbk-spinner" aria-hidden="true" /> : <Mark />}
      <h3>{props.title}</h3>
      <p className={props.alert ? "wbk-problem" : ""}>{props.text}</p>
      {props.children}
    </div>
  );
}

/** Three boxes and their arrows. */
function Mark(): JSX.Element {
  return (
    <svg className="wbk-emblem" viewBox="0 0 48 40" aria-hidden="true">
      <path d="M24 12v8M24 20h-12v6M24 20h12v6" />
      <rect x="16" y="2" width="16" height="10" rx="3" />
      <rect x="4" y="26" width="16" height="10" rx="3" />
      <rect x="28" y="26" width="16" height="10" rx="3" />
    </svg>
  );
}
