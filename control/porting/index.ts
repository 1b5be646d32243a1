/** Number porting. */
export { portingLimits } from './limits.ts';
export { portingParts } from './parts.ts';
export { deletePortsBefore } from './retention-store.ts';
export { portingRoutes } from './routes.ts';
export { openColumn } from './sealed-store.ts';
export { preparePorting, startPorting } from './start.ts';
export { findRequest } from './store.ts';
