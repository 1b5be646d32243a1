/** What calls need of reporting (edge/reporting). */
import type { ReportBody } from '#shared/edge-protocol/reports.ts';

/**
 * Takes reports. Each is safe on disk when the function returns; while the disk takes none, it is held in memory.
 */
export interface Reporter {
  report(body: ReportBody): void;
  /** Why no new calls may be taken, one sentence: so much is held that there may be no room for their reports. */
  readonly refusal?: string | null;
}
