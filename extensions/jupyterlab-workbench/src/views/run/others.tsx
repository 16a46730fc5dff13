// The other variants of which a pane has something, as links to them.

import { useStore, useWorkbench } from "../../model/hooks";
import type { VariantView } from "../../protocol";

export function Others({ what, has }: { what: string; has: (variant: string) => boolean }): JSX.Element | null {
  const store = useStore();
  const { variants } = useWorkbench();
  const others: readonly VariantView[] = variants.filter(({ key }) => has(key));
  if (others.length === 0) return null;
  return (
    <p className="wbk-profiled">
      There are {what} of{" "}
      {others.map(({ key, name }) => (
        <button
          key={key}
          className="wbk-button wbk-link"
          type="button"
          onClick={() => void store.ask({ type: "show", variant: key }).catch(() => undefined)}
        >
          {name}
        </button>
      ))}
    </p>
  );
}
