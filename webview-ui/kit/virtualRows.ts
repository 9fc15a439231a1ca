import { useLayoutEffect, useState } from 'preact/hooks';

/** Which rows of a long list to draw: from `first` up to but without `last`. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** Rows drawn beyond the visible ones, on each side. */
const spare = 8;

/** The span that is visible at a scroll position. Heights in CSS px; a height of 0 still draws the spare rows. */
export function spanOf(given: {
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}): Span {
  const { top, height, rowHeight, count } = given;
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - spare);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + spare);
  return { first, last };
}

/** Follows a scrolled element: the span of its rows, redrawn only when another row comes into it. */
export function useVirtualRows(
  scroller: { readonly current: HTMLElement | null },
  { rowHeight, count }: { readonly rowHeight: number; readonly count: number },
): Span {
  const [span, setSpan] = useState<Span>({ first: 0, last: Math.min(count, 60) });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const measure = (): void => {
      const next = spanOf({ top: element.scrollTop, height: element.clientHeight, rowHeight, count });
      setSpan((now) => (now.first === next.first && now.last === next.last ? now : next));
    };
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const size = new ResizeObserver(measure);
    size.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      size.disconnect();
    };
  }, [scroller, rowHeight, count]);
  return span;
}
