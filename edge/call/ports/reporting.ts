/** What calls need of reporting (edge/reporting). */
import type { ReportBody } from '#shared/edge-protocol/reports.ts';

/** Takes reports. Each is safe on disk when the function returns. */
export interface Reporter {
  report(body: ReportBody): void;
}
