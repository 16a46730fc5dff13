// The anywidget shell: messages go as the widget's custom messages.

import { savedTransport } from "../model/saved";
import type { Transport } from "../model/transport";
import type { Message } from "../protocol";
import { draw } from "../workbench";

interface WidgetModel {
  get(name: string): unknown;
  send(content: unknown): void;
  on(event: string, callback: (content: unknown) => void): void;
  off(event: string, callback: (content: unknown) => void): void;
}

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const transport: Transport = {
    send: (request) => model.send(request),
    onMessage(heard) {
      const callback = (content: unknown): void => heard(content as Message);
      model.on("msg:custom", callback);
      return () => model.off("msg:custom", callback);
    },
    status: () => "connected",
    onStatus: () => () => undefined,
  };
  return draw(el, transport, { workbench: String(model.get("workbench") ?? ""), sized: true }).takeDown;
}

/** The same without a widget: a saved workbench drawn into an element. */
export function renderSaved(el: HTMLElement, capsule: unknown, openPanel?: () => void): () => void {
  return draw(el, savedTransport(capsule, openPanel ? { openPanel } : {}), { sized: true }).takeDown;
}

/** A saved workbench as a page of its own. */
export function renderPage(el: HTMLElement, capsule: unknown): void {
  draw(el, savedTransport(capsule), { pane: "details" });
}

export { draw };
export default { render };
