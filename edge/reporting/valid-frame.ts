/**
 * Checks frames from control, and the stored configuration as a part of one: compiled once, because each takes memory.
 * `typebox/schema` does not load what converts and repairs values.
 */
import { Compile } from 'typebox/schema';
import { ControlToEdge } from '#shared/edge-protocol/frames.ts';

export const validFrame = Compile(ControlToEdge);

/** A frame from control; null: unreadable, and logged. */
export function readFrame(
  text: string,
  log: (level: 'error', message: string, facts?: Record<string, unknown>) => void,
): ControlToEdge | null {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    log('error', 'control sent a frame that is not JSON');
    return null;
  }
  if (validFrame.Check(frame)) return frame;
  log('error', 'control sent a frame that this edge does not know', {
    type: (frame as { type?: unknown }).type,
    problem: validFrame.Errors(frame)[1][0]?.message,
  });
  return null;
}
