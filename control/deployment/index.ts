/** What the deployment reports about itself: health, metrics, the API description. */
export { healthRoute } from './health.ts';
export type { RetentionMetrics } from './metrics.ts';
export { createMetrics, metricsRoute } from './metrics.ts';
export { addOpenApi, openApiRoutes } from './openapi.ts';
export { measureSpans } from './span-metrics.ts';
