/** Agent tests: scenarios, runs, judges, analyses, the promotion gate. */
export { analysisRoutes } from './analysis/routes.ts';
export { analyticsRoutes } from './analytics/routes.ts';
export { calibrationRoutes } from './calibration/routes.ts';
export { testingLimits } from './common/limits.ts';
export { foreignAgentRoutes } from './foreign/routes.ts';
export { registerGate } from './gate/gate.ts';
export { noiseRoutes } from './noises/routes.ts';
export { AgentTestSockets } from './over-call/sockets.ts';
export { deleteRunsBeyond } from './records/delete.ts';
export { deleteTornadoBefore, emptyRecordsBefore } from './records/retention.ts';
export { announceEnds } from './records/subjects.ts';
export {
  batchesOfVersion,
  runsOfVersion,
  sessionsOfVersion,
  setsOfVersion,
} from './records/version-users.ts';
export { testRunRoutes } from './runs/routes.ts';
export { createTestRuns } from './runs/start.ts';
export { scenarioRoutes } from './scenarios/routes.ts';
export { dropScenarios } from './scenarios/store.ts';
export { tornadoRoutes } from './tornado/routes.ts';
export { createTornado } from './tornado/start.ts';
export { watchRoutes } from './watch/routes.ts';
export { startWatches, watchMetrics } from './watch/work.ts';
