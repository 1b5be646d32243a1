/** Parses what an edge sends. */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { lazy } from '#shared/lazy.ts';
import type { SequencedReport } from './reports.ts';

/** By type; each is compiled at its first frame. */
const checks = new Map<unknown, () => FrameCheck>(
  EdgeToControl.anyOf
    .flatMap((one): readonly FrameSchema[] => ('anyOf' in one ? one.anyOf : [one]))
    .map((one) => [one.properties.type.const, lazy(() => compiled(one))]),
);

type FrameSchema = TSchema & { readonly properties: { readonly type: { readonly const: string } } };
type FrameCheck = ReturnType<typeof compiled>;

function compiled(frame: TSchema) {
  return Compile(frame);
}

/** Any frame but reports, whose bodies are validated one by one when they are stored. */
type ReadFrame =
  | Exclude<EdgeToControl, { type: 'report' }>
  | { type: 'report'; reports: readonly SequencedReport[] };

/** A frame that only a newer edge sends. */
interface NewerFrame {
  readonly type: 'newer';
  /** As the edge calls it. */
  readonly name: string;
}

/** The frame, or what is wrong with it. */
export function readFrame(text: string): ReadFrame | NewerFrame | string {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return 'a frame that is not JSON';
  }
  if (isReportFrame(frame)) return frame;
  const name = typeOf(frame);
  if (name === null) return 'a malformed frame: it has no type';
  const check = checks.get(name)?.();
  if (!check) return { type: 'newer', name: name.slice(0, 40) };
  if (isFrame(frame, check)) return frame;
  const [error] = check.Errors(frame);
  return `a malformed frame: ${error?.instancePath ?? ''} ${error?.message ?? ''}`;
}

function isFrame(frame: unknown, check: FrameCheck): frame is EdgeToControl {
  return check.Check(frame);
}

function isReportFrame(frame: unknown): frame is { type: 'report'; reports: readonly SequencedReport[] } {
  if (typeof frame !== 'object' || frame === null || !('type' in frame) || frame.type !== 'report')
    return false;
  return 'reports' in frame && Array.isArray(frame.reports) && frame.reports.every(isSequenced);
}

function isSequenced(report: unknown): boolean {
  return typeof report === 'object' && report !== null && 'seq' in report && Number.isSafeInteger(report.seq);
}

function typeOf(frame: unknown): string | null {
  if (typeof frame !== 'object' || frame === null || !('type' in frame)) return null;
  return typeof frame.type === 'string' ? frame.type : null;
}
