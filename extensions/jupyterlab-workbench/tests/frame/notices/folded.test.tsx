import { afterEach, describe, expect, test } from "vitest";
import { Folded, useFolded } from "../../../src/frame/notices/folded";
import type { PanelBeside } from "../../../src/model/transports/transport";
import { act, byText, type Drawn, drawn, GOLDEN } from "../../drawing";

function Output(): JSX.Element {
  const [folded, unfold] = useFolded();
  return folded ? <Folded unfold={unfold} /> : <p>all of it</p>;
}

/** A panel that shows the workbenches told to it. */
function panel(): PanelBeside & { show(workbench: string): Promise<void> } {
  const watchers = new Set<() => void>();
  let shown = "";
  return {
    shows: (workbench) => workbench === shown,
    onChange(changed) {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    async show(workbench) {
      shown = workbench;
      await act(async () => watchers.forEach((changed) => changed()));
    },
  };
}

let shown: Drawn;
afterEach(() => shown.takeDown());

describe("a workbench in a cell", () => {
  test("is a line while the panel shows it, and all of it again afterwards", async () => {
    const beside = panel();
    shown = await drawn(Output, GOLDEN, false, { panel: beside });
    expect(shown.host.textContent).toBe("all of it");
    await beside.show("another");
    expect(shown.host.textContent).toBe("all of it");
    await beside.show(GOLDEN.state.workbench);
    expect(shown.host.querySelector(".wbk-folded")?.textContent).toContain(`${GOLDEN.state.name}is shown in the panel`);
    await beside.show("");
    expect(shown.host.textContent).toBe("all of it");
  });

  test("is unfolded by a press until the panel no longer shows it", async () => {
    const beside = panel();
    shown = await drawn(Output, GOLDEN, false, { panel: beside });
    await beside.show(GOLDEN.state.workbench);
    await shown.press(byText(shown.host, "button", "Show here too"));
    expect(shown.host.textContent).toBe("all of it");
    await beside.show("");
    await beside.show(GOLDEN.state.workbench);
    expect(shown.host.querySelector(".wbk-folded")).not.toBeNull();
  });

  test("without a panel is never folded", async () => {
    shown = await drawn(Output, GOLDEN);
    expect(shown.host.textContent).toBe("all of it");
  });
});
