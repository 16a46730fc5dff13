// The one selection that all views of a program share: a statement, a closed scope, or nothing.

export type Selected =
  | { readonly kind: "none" }
  | { readonly kind: "statement"; readonly id: string }
  | { readonly kind: "scope"; readonly name: string };

export interface Selection {
  readonly current: Selected;
  select(selected: Selected): void;
  onChange(changed: (selected: Selected) => void): void;
}

export const NOTHING: Selected = { kind: "none" };

export function createSelection(): Selection {
  const listeners: ((selected: Selected) => void)[] = [];
  let current: Selected = NOTHING;
  return {
    get current() {
      return current;
    },
    select(selected) {
      current = selected;
      for (const listener of listeners) listener(selected);
    },
    onChange(changed) {
      listeners.push(changed);
    },
  };
}
