/** Organizations, their keys and quotas, and authentication of requests. */
export { AccessMetrics } from './access-metrics.ts';
export {
  type CallCeiling,
  ceilingOf,
  checkBelowCeiling,
  limitsInForce,
  limitsView,
} from './call-limit-rules.ts';
export { addGuard, showWindow } from './guard.ts';
export { graphBytes, Quotas } from './quota-rules.ts';
export { openConnections, requireConnection } from './realtime-rules.ts';
export { readRecording } from './recording-rules.ts';
export { organizationRoutes } from './routes.ts';
export { checkUrl, hashKey, keyOfHeader, readUrl } from './rules.ts';
export { pruneSessions } from './session-store.ts';
export {
  createApiKey,
  createEdgeToken,
  createOrganization,
  findEdgeToken,
  findKeyRow,
  findOrganization,
  isoTime,
  listApiKeys,
  listEdgeTokens,
  listOrganizations,
  modelPricesOf,
  type OrganizationChange,
  revokeApiKey,
  revokedTokens,
  revokedTokensTopic,
  revokeEdgeToken,
  setDisabled,
  signingSecretContext,
  storedConnections,
  updateOrganization,
} from './store.ts';
