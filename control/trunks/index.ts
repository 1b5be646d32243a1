/** SIP trunks of numbers: configurations, registration, health. */
export { attachNumbers, requireConfigurations, requireNumber } from './attach.ts';
export {
  type AlertConfig,
  alertsOf,
  codecsOf,
  failoverOf,
  standbyEndpoints,
  usableEndpoints,
} from './config-rules.ts';
export { activePriority } from './health-rules.ts';
export { pruneHealth, storeHealth } from './health-store.ts';
export { learnedProbes, learnedState } from './learned.ts';
export { regionWish } from './region.ts';
export { registerRoutes } from './register-routes.ts';
export { hostOf, primaryEndpoint, registrationOf } from './registration-rules.ts';
export { registrationSubject, storeRegistration } from './registrations-store.ts';
export { sipRoutes } from './routes.ts';
export { derivePassword, noOutboundRoute } from './rules.ts';
export { sipServer } from './setup-facts.ts';
export { listLargeSources } from './source-space-store.ts';
export { findConfigurations, listConfigurations, openPassword } from './store.ts';
export { listWideNumbers } from './wide-sources-store.ts';
