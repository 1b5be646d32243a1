/** Parses what an edge sends. */
import { Compile } from 'typebox/compile';
import { EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { lazy } from '#shared/lazy.ts';
import type { SequencedReport } from './reports.ts';

const frameCheck = lazy(() => Compile(EdgeToControl));

/** Any frame but reports, whose bodies are validated one by one when they are stored. */
type ReadFrame =
  | Exclude<EdgeToControl, { type: 'report' }>
  | { type: 'report'; reports: readonly SequencedReport[] };

/** The types of all frames from edges. */
const knownTypes: Readonly<Record<EdgeToControl['type'], true>> = {
  hello: true,
  applied: true,
  report: true,
  result: true,
  status: true,
  calls_held: true,
  call_ask: true,
  call_begun: true,
  call_over: true,
};

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
  if (frameCheck().Check(frame)) return frame;
  const name = typeOf(frame);
  if (name !== null && !Object.hasOwn(knownTypes, name)) return { type: 'newer', name: name.slice(0, 40) };
  const [error] = frameCheck().Errors(frame);
  return `a malformed frame: ${error?.instancePath ?? ''} ${error?.message ?? ''}`;
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
