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
  unobserve(): void {
    return undefined;
  }
  disconnect(): void {
    return undefined;
  }
}
(globalThis as { IntersectionObserver?: unknown }).IntersectionObserver = EverythingInView;

// A document without layout and without workers: pictures come in rows.
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};
globalThis.matchMedia ??= () => ({ matches: true, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList;
HTMLCanvasElement.prototype.getContext = () => null;
Element.prototype.scrollIntoView = () => undefined;
// d3-zoom asks an SVG element for its extent.
Object.defineProperty(SVGSVGElement.prototype, "width", { configurable: true, value: { baseVal: { value: 500 } } });
Object.defineProperty(SVGSVGElement.prototype, "height", { configurable: true, value: { baseVal: { value: 400 } } });
