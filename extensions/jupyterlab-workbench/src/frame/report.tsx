// The form of a report: what the shown variant is put beside, and the author's notes.

import { useCallback, useRef, useState } from "react";
import { download } from "../model/files";
import { useCurrent, usePredicting, useStore, useTool, useWorkbench } from "../model/hooks";
import { perform } from "./actions";

export function ReportForm(): JSX.Element {
  const store = useStore();
  const { variants, root } = useWorkbench();
  const run = usePredicting();
  const current = useCurrent();
  const dialog = useRef<HTMLDialogElement>(null);
  const [notes, setNotes] = useState("");
  const [chosen, setChosen] = useState("");
  const others = variants.filter(({ key }) => key !== current.key);
  const before = others.some(({ key }) => key === chosen) ? chosen : root;
  useTool("report", useCallback(() => dialog.current?.showModal(), []));

  async function write(): Promise<void> {
    const variant = current.key;
    const saved = await store.ask({ type: "report", variant, before, notes, lengths: {}, ...run });
    if (saved.type !== "saved") return;
    download(saved.name, "text/html", saved.text);
    store.say({ text: `${saved.name} is downloaded`, failed: false });
  }

  return (
    <dialog className="wbk-report" ref={dialog} aria-label="Report">
      <form
        method="dialog"
        onSubmit={() => {
          store.say({ text: "The report is being written …", failed: false });
          void perform(store, write);
        }}
      >
        <h3>Report on {current.name}</h3>
        <p className="wbk-hint">
          One page without scripts, to be read and printed: the result, time and memory before and after, the steps with
          their reasons, the check, both graphs.
        </p>
        <label>
          Beside
          <select className="wbk-select" value={before} onChange={(event) => setChosen(event.target.value)}>
            {others.map(({ key, name }) => (
              <option key={key} value={key}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Your notes
          <textarea rows={6} value={notes} onChange={(event) => setNotes(event.target.value)} />
        </label>
        <div className="wbk-report-buttons">
          <button className="wbk-button" type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button className="wbk-button wbk-primary" type="submit">
            Write the report
          </button>
        </div>
      </form>
    </dialog>
  );
}
