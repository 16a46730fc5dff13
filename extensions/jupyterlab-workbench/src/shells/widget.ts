// The views as shells load them: connected to a widget's custom messages, or drawn from a saved workbench.

import { type Beside, savedTransport } from "../model/transports/saved";
import { follow } from "../frame/follow";
import { linkIn, NAME } from "../model/link";
import type { Transport } from "../model/transports/transport";
import type { Message } from "../protocol";
import type { DrawnSaved, InNotebook } from "./views";
import { draw, type Drawn, type Options } from "../workbench";

interface WidgetModel {
  get(name: string): unknown;
  send(content: unknown): void;
  on(event: string, callback: (content: unknown) => void): void;
  off(event: string, callback: (content: unknown) => void): void;
}

/** Draws a live workbench in a widget, called by workbench/session/widget.js; the result takes it down. */
export function drawWidget(el: HTMLElement, model: WidgetModel): () => void {
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

/** Draws a saved workbench into an element without a widget. */
export function drawSaved(el: HTMLElement, saved: unknown, options: Options = {}, more: Beside = {}): Drawn {
  return draw(el, savedTransport(saved, more), options);
}

/** Draws a saved workbench in a notebook's output. */
export function renderSaved(el: HTMLElement, saved: unknown, more: InNotebook = {}): DrawnSaved {
  const transport = savedTransport(saved, more);
  const { takeDown } = draw(el, transport, { sized: true });
  return { renew: transport.renew, takeDown };
}

/** Draws a saved workbench as a page of its own. A link behind its address is followed, now and when it changes. */
export function renderPage(el: HTMLElement, saved: unknown): void {
  const { store } = drawSaved(el, saved, { pane: "details" }, { addressOf: (link) => `${pageName()}#${NAME}=${link}` });
  const go = (): void => {
    const link = linkIn({ search: "", hash: location.hash });
    if (link) follow(store, link);
  };
  window.addEventListener("hashchange", go);
  go();
}

/** The page's address; of a file its name alone, as folders tell who works where. */
const pageName = (): string =>
  location.protocol === "file:" ? (location.pathname.split("/").at(-1) ?? "") : location.href.split("#")[0] ?? "";

export { draw, follow };
