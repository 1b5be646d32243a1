/** What the deployment says of itself: health, metrics, the description of the API. */
export { healthRoute } from './health.ts';
export { createMetrics, metricsRoute } from './metrics.ts';
export { addOpenApi, openApiRoutes } from './openapi.ts';
export type { RetentionMetrics } from './retention-metrics.ts';
