/** A table of thousands of rows: only those near the view are in the page, the room of the others is kept free. */
import { batch, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Part, Table, type TableProps } from './table.tsx';
import { useWidth } from './width.ts';

/** Drawn before and after the rows that can be seen: for the keyboard, and until the next frame. */
const around = 20;
/** The rows that are drawn change this many at a time: not each pixel of scrolling draws again. */
const step = 10;
/** Until a row was measured, px. */
const usualHeight = 30;

export function LongTable<Row>(props: TableProps<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const height = useSignal(usualHeight);
  const from = useSignal(0);
  const to = useSignal(2 * around);
  const look = () => {
    if (!box.current) return;
    const { top } = box.current.getBoundingClientRect();
    const stepPx = step * height.peek();
    const aroundPx = around * height.peek();
    batch(() => {
      from.value = step * Math.max(0, Math.floor((-top - aroundPx) / stepPx));
      to.value = step * Math.max(1, Math.ceil((window.innerHeight - top + aroundPx) / stepPx));
    });
  };
  const isEmpty = props.rows.length === 0;
  // Rows have one line each, whose height depends on the columns that this width has.
  useLayoutEffect(() => {
    const drawn = box.current?.querySelectorAll('tbody tr[aria-rowindex]') ?? [];
    const [first, last] = [drawn[0], drawn[drawn.length - 1]];
    if (!first || !last) return;
    height.value = (last.getBoundingClientRect().bottom - first.getBoundingClientRect().top) / drawn.length;
    look();
  }, [width, isEmpty]);
  useEffect(() => {
    // Whatever scrolls: the screen, or on a phone the page.
    document.addEventListener('scroll', look, { capture: true, passive: true });
    window.addEventListener('resize', look);
    return () => {
      document.removeEventListener('scroll', look, { capture: true });
      window.removeEventListener('resize', look);
    };
  }, []);
  // Rows may have become fewer since it was looked.
  const first = Math.min(from.value, step * Math.floor(Math.max(0, props.rows.length - 1) / step));
  // Other columns and other rows are drawn again.
  const kept = useMemo((): Pick<Part, 'drawn'> => ({ drawn: new Map() }), [props.columns, props.rows]);
  const part = Object.assign(kept, { from: first, to: to.value, height: height.value });
  return (
    <div ref={box}>
      <Table {...props} part={part} />
    </div>
  );
}
