// Draws a view over a stored workbench, as Python sends it, and notes what the view asks for.

import { act, type ComponentType } from "react";
import { createRoot } from "react-dom/client";
import golden from "../../../tests/golden/session/measure.json";
import { StoreContext } from "../src/model/hooks";
import { savedTransport } from "../src/model/transports/saved";
import { createStore, type Store } from "../src/model/store";
import type { Status, Transport } from "../src/model/transports/transport";
import type { Capsule, Message, Request } from "../src/protocol";

/** What Python says it sends; a test there holds the file to that. */
export const GOLDEN = golden as unknown as Capsule;

export interface Drawn {
  readonly host: HTMLElement;
  readonly store: Store;
  /** Every request but those for parts, in order. */
  readonly sent: readonly Request[];
  /** What was asked for and called back of parts, in order. */
  readonly parts: readonly Request[];
  /** Answers the last request. */
  answer(message: (id: number) => Message): Promise<void>;
  hear(message: Message): Promise<void>;
  /** The connection changes. */
  become(status: Status): Promise<void>;
  /** Answers what was asked for of parts. */
  part(id: number, value: unknown): Promise<void>;
  press(element: Element | null | undefined): Promise<void>;
  takeDown(): Promise<void>;
}

/** `live`: as if Python were there, which answers nothing but parts until it is told to; `beside` is what a notebook
 * gives. */
export async function drawn(
  View: ComponentType,
  capsule: Capsule = GOLDEN,
  live = false,
  beside: Partial<Transport> = {},
): Promise<Drawn> {
  const saved = savedTransport(capsule);
  const sent: Request[] = [];
  const parts: Request[] = [];
  const heard = new Set<(message: Message) => void>();
  const followed = new Set<() => void>();
  let status: Status = live ? "connected" : "saved";
  const transport: Transport = {
    ...saved,
    ...beside,
    status: () => status,
    onStatus(changed) {
      followed.add(changed);
      return () => followed.delete(changed);
    },
    onMessage(listener) {
      heard.add(listener);
      return saved.onMessage(listener);
    },
    send(request) {
      const own = request.type !== "hello" && request.type !== "want" && request.type !== "forget";
      if (own) sent.push(request);
      else if (request.type !== "hello") parts.push(request);
      if (!own || !live) saved.send(request);
    },
  };
  const store = createStore(transport);
  const host = document.createElement("div");
  document.body.append(host);
  const root = createRoot(host);
  await act(async () => undefined);
  await act(async () =>
    root.render(
      <StoreContext.Provider value={store}>
        <View />
      </StoreContext.Provider>,
    ),
  );
  await act(async () => undefined);
  return {
    host,
    store,
    sent,
    parts,
    async answer(message) {
      const last = sent.at(-1);
      if (!last || !("id" in last)) throw new Error("nothing was asked for");
      await act(async () => heard.forEach((listener) => listener(message(last.id))));
    },
    async hear(message) {
      await act(async () => heard.forEach((listener) => listener(message)));
    },
    async become(next) {
      status = next;
      await act(async () => followed.forEach((changed) => changed()));
    },
    async part(id, value) {
      await act(async () => heard.forEach((listener) => listener({ type: "part", id, value, done: true })));
    },
    async press(element) {
      if (!element) throw new Error("there is nothing to press");
      await act(async () => element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })));
    },
    async takeDown() {
      await act(async () => root.unmount());
      host.remove();
      store.destroy();
    },
  };
}

export const texts = (host: ParentNode, selector: string): readonly string[] =>
  [...host.querySelectorAll(selector)].map((element) => element.textContent ?? "");

/** The button or option with a text. */
export function byText(host: ParentNode, selector: string, text: string): HTMLElement | undefined {
  return [...host.querySelectorAll<HTMLElement>(selector)].find((one) => one.textContent?.includes(text));
}

/** Types into a field, as React hears it. */
export async function enter(field: Element | null | undefined, value: string): Promise<void> {
  const made = field as HTMLInputElement | HTMLSelectElement;
  const prototype = made instanceof HTMLSelectElement ? HTMLSelectElement.prototype : HTMLInputElement.prototype;
  await act(async () => {
    Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(made, value);
    made.dispatchEvent(new Event(made instanceof HTMLSelectElement ? "change" : "input", { bubbles: true }));
  });
}

export async function fire(element: Element | null | undefined, event: Event): Promise<void> {
  await act(async () => element?.dispatchEvent(event));
}

export { act };
