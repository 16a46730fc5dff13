// The keyboard around a workbench: which keys are its own and which JupyterLab's, and where the focus goes when the
// element that had it is gone.

/** Lumino, on `document`, leaves keys alone that come from inside an element with it. */
const RESTS = "lmSuppressShortcuts";

/** Keys with Control, or on a Mac with Command, that the workbench or a text field uses. */
const OWN = new Set(["z", "y", "s", "a", "c", "v", "x", "enter"]);
const OWN_WITH_SHIFT = new Set(["z", "enter"]);

/** Keys that a text field knows with Control or Alt too. */
const EDITING = /^(Arrow|Home|End|Backspace|Delete)/;
const FIELD = "input, textarea, [contenteditable='true']";

/** Tells whether a key that is pressed in the workbench stays there: every one without Control, Meta and Alt. */
export function isOwn(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (!ctrlKey && !metaKey && !altKey) return true;
  const typed = event.target instanceof Element && event.target.closest(FIELD) !== null;
  if (typed && (EDITING.test(key) || event.getModifierState("AltGraph") || (altKey && !ctrlKey && !metaKey))) return true;
  return !altKey && (shiftKey ? OWN_WITH_SHIFT : OWN).has(key.toLowerCase());
}

/** Leaves JupyterLab the keys that are not the workbench's; the result ends that. A listener on `window` hears a key
 * before Lumino does. */
export function shareKeys(place: HTMLElement): () => void {
  place.dataset[RESTS] = "true";
  const heard = (event: KeyboardEvent): void => {
    if (!(event.target instanceof Node) || !place.contains(event.target)) return;
    if (isOwn(event)) place.dataset[RESTS] = "true";
    else delete place.dataset[RESTS];
  };
  window.addEventListener("keydown", heard, true);
  return () => window.removeEventListener("keydown", heard, true);
}

export interface Focus {
  /** Gives the focus to the element that had it last, else to the place itself. */
  take(): void;
  end(): void;
}

/** Keeps the focus in `place`: what had it may vanish, or be disabled by what it did. */
export function keepFocus(place: HTMLElement): Focus {
  let last: HTMLElement | SVGElement | null = null;
  let inside = false;
  const here = (): void => place.focus({ preventScroll: true });
  const came = (event: FocusEvent): void => {
    if (event.target instanceof HTMLElement || event.target instanceof SVGElement) last = event.target;
    inside = true;
  };
  const isThere = (one: Element | null): boolean => one !== null && place.contains(one) && !one.matches(":disabled");
  const left = (event: FocusEvent): void => {
    if (event.relatedTarget !== null) inside = false;
    // An element that is about to be removed leaves the focus to nobody, as does a press on the page's ground: which it
    // was is known when the observer was told.
    else setTimeout(() => (inside = place.contains(document.activeElement)));
  };
  const observer = new MutationObserver(() => {
    const free = document.activeElement === document.body || document.activeElement === last;
    if (inside && free && !isThere(last)) here();
  });
  place.addEventListener("focusin", came);
  place.addEventListener("focusout", left);
  observer.observe(place, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
  return {
    take() {
      if (last && isThere(last)) last.focus({ preventScroll: true });
      if (!place.contains(document.activeElement)) here();
    },
    end() {
      observer.disconnect();
      place.removeEventListener("focusin", came);
      place.removeEventListener("focusout", left);
    },
  };
}
