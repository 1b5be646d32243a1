/** Calls: placing, listing and reading them, and closing those whose edge is gone. */
export { deleteSumsBefore } from './call-sums.ts';
export { completedBody } from './completed-event.ts';
export { startEarlierCalls } from './earlier-calls.ts';
export { callLimits } from './limits.ts';
export { closeCallsWithoutOutbox, startLostCalls } from './lost.ts';
export { closeCallsNotRunning, closeCallsOfEdge } from './lost-store.ts';
export { turnsOf } from './measured-rules.ts';
export { findMarks } from './measured-store.ts';
export { pruneRefused, storeRefused } from './refused-store.ts';
export { CallReports } from './reports.ts';
export { callRoutes } from './routes.ts';
export {
  callsUsingVersion,
  deleteCallsBefore,
  deleteTracesBefore,
  findCall,
  findLoggedCall,
  findTranscript,
  findTranscriptParts,
} from './store.ts';
