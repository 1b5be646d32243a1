/** Short-lived credentials with which browsers call. */
export { createSession as createPhoneSession } from './create.ts';
export type { PhoneSessionDeps } from './deps.ts';
export { phoneSessionRoutes } from './routes.ts';
export { openPhones, type StoredPhones } from './rules.ts';
export { countPhoneCall, phonesOf, prunePhoneSessions, requireSession, revokeSession } from './store.ts';
export {
  isSupervisors,
  modeOf,
  reportSupervisors,
  requireSupervisor,
  type SupervisorRow,
  setMode,
  supervisionChange,
  supervisionHappening,
  supervisorRoom,
  supervisorsOf,
  supervisorTarget,
  supervisorView,
} from './supervisors.ts';
export { agentTarget } from './targets.ts';
