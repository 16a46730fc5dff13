// The anywidget shell: `snapshot` is a trait of the Python side's ProgramView.

import { render as draw } from "./render";

interface WidgetModel {
  get(name: string): unknown;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
}

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  return draw(el, {
    snapshot: () => String(model.get("snapshot") ?? ""),
    onChange(changed) {
      model.on("change:snapshot", changed);
      return () => model.off("change:snapshot", changed);
    },
  });
}

/** The same without a widget: a fixed snapshot drawn into an element. */
export function renderSnapshot(el: HTMLElement, snapshot: string): () => void {
  return draw(el, { snapshot: () => snapshot, onChange: () => () => undefined });
}

export default { render };
