/** Discovery and test calls of trunks. */
export { checkRoutes } from './routes.ts';
export { forgetChecks, storeCheck } from './store.ts';
