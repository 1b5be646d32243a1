/** Trunk alerts for customers, deployment alerts for the operator. */
export { type AlertLimits, alertLimits } from './limits.ts';
export { noticeSchedule, redacted } from './notice-rules.ts';
export { pruneProbeRuns, storeProbeRuns } from './probes-store.ts';
export { alertRoutes } from './routes.ts';
export { type AlertMetrics, alertKinds } from './rules.ts';
export { logSender } from './senders.ts';
export { smsSender } from './sms.ts';
export { alertSenders, startAlerts } from './start.ts';
export { pruneAlerts, withdrawAlerts } from './store.ts';
export { raiseDrift, resolveDrift } from './watch-alerts.ts';
