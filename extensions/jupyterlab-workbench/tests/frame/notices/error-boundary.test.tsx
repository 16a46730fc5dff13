// A part that cannot be drawn leaves the rest as it is.

import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ErrorBoundary, OfVariant } from "../../../src/frame/notices/error-boundary";
import { byText, drawn } from "../../drawing";

let root: Root;
let host: HTMLElement;
let broken: boolean;
const handled = (event: Event): void => event.preventDefault(); // else its stack is printed

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined); // where React names what was being drawn
  window.addEventListener("error", handled);
  broken = true;
  host = document.createElement("div");
  document.body.append(host);
  root = createRoot(host);
});
afterEach(() => {
  act(() => root.unmount());
  host.remove();
  window.removeEventListener("error", handled);
  vi.restoreAllMocks();
});

function Part(): JSX.Element {
  if (broken) throw new Error("no room for 3 boxes");
  return <p>3 boxes</p>;
}

const show = (of: string): void =>
  act(() =>
    root.render(
      <>
        <h1>walk</h1>
        <ErrorBoundary what="The graph" of={of}>
          <Part />
        </ErrorBoundary>
      </>,
    ),
  );
const alert = (): string | null | undefined => host.querySelector("[role=alert]")?.textContent;

test("says what could not be drawn and why; all else stays", () => {
  show("a");
  expect(host.querySelector("h1")?.textContent).toBe("walk");
  expect(alert()).toContain("The graph could not be drawn");
  expect(alert()).toContain("no room for 3 boxes");
});

test("is tried again by a press", () => {
  show("a");
  const press = (): void => act(() => host.querySelector("button")?.click());
  press();
  expect(alert()).toContain("no room for 3 boxes");
  broken = false;
  press();
  expect(alert()).toBeUndefined();
  expect(host.querySelector("p")?.textContent).toBe("3 boxes");
});

test("is tried again with other data, not with the same", () => {
  show("a");
  broken = false;
  show("a");
  expect(alert()).toContain("no room for 3 boxes");
  show("b");
  expect(alert()).toBeUndefined();
});

test("is tried again for another variant", async () => {
  const shown = await drawn(() => (
    <OfVariant what="This pane">
      <Part />
    </OfVariant>
  ));
  expect(shown.host.textContent).toContain("This pane could not be drawn");
  expect(byText(shown.host, "button", "Try again")).not.toBeUndefined();
  await shown.takeDown();
});
