/** What calls need from reporting (edge/reporting). */
import type { ReportBody } from '#shared/edge-protocol/reports.ts';

/**
 * Takes reports. Each is on disk when the function returns; while the disk fails, reports are held in memory. What is
 * measured on calls (`measured`) is gathered for a moment first, until the end of its call at the latest.
 */
export interface Reporter {
  report(body: ReportBody): void;
  /** Why no new calls may be taken, one sentence: the reports held in memory may leave no room for more. */
  readonly refusal?: string | null;
}
