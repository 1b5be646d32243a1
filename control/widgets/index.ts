/** Chat widgets for web pages. */
export { widgetLimits } from './limits.ts';
export { widgetMetrics } from './metrics.ts';
export { widgetRoutes } from './routes.ts';
export { createWidgets } from './start.ts';
export { widgetsUsingPathway, widgetsUsingPersona, widgetsUsingVersion } from './store.ts';
export { visitorRoutes } from './visitor-routes.ts';
