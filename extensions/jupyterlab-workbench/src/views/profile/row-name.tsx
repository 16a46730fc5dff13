// The name of a row, a button that selects what the row computes.

import { Fragment } from "react";
import { useStore } from "../../model/hooks";
import type { ProfileRowView } from "../../protocol";

/** A row of another profile alone computes nothing here: `row` is null. Long names break behind their dots. */
export function RowName({ name, row }: { name: string; row: ProfileRowView | null }): JSX.Element {
  const store = useStore();
  const statements = row?.statements ?? [];
  return (
    <button
      className="wbk-button wbk-link"
      type="button"
      disabled={!statements.length}
      title={statements.length > 1 ? `Select its ${statements.length} statements in the graph` : ""}
      onClick={() => store.select({ statements, scope: null, instance: null })}
    >
      {name.split(/(?<=[._])/).map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </button>
  );
}
