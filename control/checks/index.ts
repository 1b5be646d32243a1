/** Discovery and test calls of trunks. */
export { checkRoutes } from './routes.ts';
export { pruneChecks, storeCheck } from './store.ts';
