/** Parses what an edge sends. */
import { Compile } from 'typebox/compile';
import { EdgeToControl } from '#shared/edge-protocol/frames.ts';
import type { SequencedReport } from './reports.ts';

const checkFrame = Compile(EdgeToControl);

/** Any frame but reports, whose bodies are validated one by one when they are stored. */
type ReadFrame =
  | Exclude<EdgeToControl, { type: 'report' }>
  | { type: 'report'; reports: readonly SequencedReport[] };

/** The frame, or what is wrong with it. */
export function readFrame(text: string): ReadFrame | string {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return 'a frame that is not JSON';
  }
  if (isReportFrame(frame)) return frame;
  if (checkFrame.Check(frame)) return frame;
  const [error] = checkFrame.Errors(frame);
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
