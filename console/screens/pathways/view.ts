/** Which part of the graph the drawing shows. Pure. */
import { type Box, nodeHeight, nodeWidth, type Place } from './layout.ts';

export interface View {
  /** Of the graph's origin in the drawing, pixels. */
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const [smallest, largest] = [0.15, 2.5];
const margin = 16;

export function wholeView(box: Box, size: Size): View {
  const fits = Math.min(
    (size.width - 2 * margin) / box.width,
    (size.height - 2 * margin) / box.height,
    // Text is not drawn larger than it is read well.
    1,
  );
  const scale = Math.max(smallest, fits);
  return {
    scale,
    x: (size.width - box.width * scale) / 2 - box.x * scale,
    y: (size.height - box.height * scale) / 2 - box.y * scale,
  };
}

/** @param at stays where it is in the drawing */
export function zoomed({ x, y, scale }: View, factor: number, at: Place): View {
  const next = Math.min(largest, Math.max(smallest, scale * factor));
  const by = next / scale;
  return { scale: next, x: at.x - (at.x - x) * by, y: at.y - (at.y - y) * by };
}

export function panned(view: View, dx: number, dy: number): View {
  return { ...view, x: view.x + dx, y: view.y + dy };
}

/** Moved as little as is needed for a node to be seen. */
export function showing(view: View, { x, y }: Place, size: Size): View {
  const shift = (from: number, length: number, room: number) =>
    from < margin ? margin - from : Math.min(0, room - margin - (from + length));
  const dx = shift(view.x + x * view.scale, nodeWidth * view.scale, size.width);
  const dy = shift(view.y + y * view.scale, nodeHeight * view.scale, size.height);
  // Less than a pixel is what rounding leaves.
  return Math.hypot(dx, dy) < 1 ? view : panned(view, dx, dy);
}
