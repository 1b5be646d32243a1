/**
 * Checks frames from control, and the stored configuration as a part of one. The check of each type is compiled at its
 * first frame, and once, because it takes time and memory: some types are large, and most edges get few of them.
 * `typebox/schema` does not load what converts and repairs values.
 */
import { Compile } from 'typebox/schema';
import { ControlToEdge } from '#shared/edge-protocol/frames.ts';
import { lazy } from '#shared/lazy.ts';

const checks = new Map<unknown, () => Pick<ReturnType<typeof compiled>, 'Check' | 'Errors'>>(
  ControlToEdge.anyOf.map((one) => [one.properties.type.const, lazy(() => compiled(one))]),
);

function compiled(frame: (typeof ControlToEdge.anyOf)[number]) {
  return Compile(frame);
}

/** Why this edge does not accept a frame; null: it does. */
function faultOf(frame: unknown): string | null {
  const type = typeof frame === 'object' && frame !== null && 'type' in frame ? frame.type : undefined;
  const check = checks.get(type)?.();
  if (!check) return 'no such type of frame';
  return check.Check(frame) ? null : (check.Errors(frame)[1][0]?.message ?? 'not valid');
}

export function isFrame(frame: unknown): frame is ControlToEdge {
  return faultOf(frame) === null;
}

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
  if (isFrame(frame)) return frame;
  log('error', 'control sent a frame that this edge does not know', {
    type: (frame as { type?: unknown } | null)?.type,
    problem: faultOf(frame),
  });
  return null;
}
