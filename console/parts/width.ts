/** How wide an element is, for drawings that fill it. */
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** @returns pixels; 0 until it was measured */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const width = useSignal(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return;
    const measure = () => {
      width.value = Math.floor(current.clientWidth);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return width.value;
}
