// The form of a report asks for one of the shown variant beside the chosen one, with the notes.

import { act } from "react";
import { beforeAll, expect, test, vi } from "vitest";
import { ReportForm } from "../../src/frame/report";
import { byText, drawn, GOLDEN } from "../drawing";

beforeAll(() => {
  // jsdom has no modal dialogs
  HTMLDialogElement.prototype.showModal = function show() { this.open = true; };
});

test("notes and the other variant go with the request, and the page is downloaded", async () => {
  const shown = await drawn(ReportForm, GOLDEN, true);
  const { host, sent, store } = shown;
  await act(async () => store.tools.report?.());
  expect(host.querySelector("dialog")?.open).toBe(true);
  const area = host.querySelector("textarea") as HTMLTextAreaElement;
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(area, "Mine.");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await act(async () => host.querySelector("form")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true })));
  const { root, current, backend } = GOLDEN.state;
  expect(sent.at(-1)).toMatchObject({ type: "report", variant: current, before: root, notes: "Mine.", backend, sizes: {} });
  const clicked = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
  URL.createObjectURL = () => "blob:page";
  URL.revokeObjectURL = () => undefined;
  await shown.answer((id) => ({ type: "saved", id, name: "page.html", text: "<!doctype html>" }));
  expect(clicked).toHaveBeenCalledOnce();
  expect(store.values().notice).toBeNull();
  expect(byText(host, "button", "Cancel")).toBeTruthy();
  await shown.takeDown();
});
