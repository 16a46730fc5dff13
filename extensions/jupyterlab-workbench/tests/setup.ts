// What jsdom lacks and charts and editors ask for: every element is 500 pixels wide, text has no extent.

Object.defineProperty(HTMLElement.prototype, "clientWidth", { configurable: true, value: 500 });
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
Range.prototype.getBoundingClientRect = () => new DOMRect();
(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

/** All that is observed is in view. */
class EverythingInView {
  constructor(private readonly seen: (entries: readonly unknown[]) => void) {}
  observe(target: Element): void {
    this.seen([{ target, isIntersecting: true }]);
  }
  disconnect(): void {
    return undefined;
  }
}
(globalThis as { IntersectionObserver?: unknown }).IntersectionObserver = EverythingInView;
