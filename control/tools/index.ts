/** Tools and integrations: stored, checked, and run for conversations and calls. */
export { edgeToolRoute } from './edge-route.ts';
export { integrationRoutes } from './integration-routes.ts';
export { toolLimits } from './limits.ts';
export { toolRoutes } from './routes.ts';
export { deleteRunsBefore } from './runs-store.ts';
export { sealEarlierBodies } from './sealed-store.ts';
export { startTools } from './start.ts';
export { agentTools, firstUnknownTool, isToolName, nodeTools } from './store.ts';
