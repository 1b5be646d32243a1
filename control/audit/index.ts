/** The audit log: who changed what, when. */
export { auditRoutes } from './routes.ts';
export { type Actor, actorOf, changedFields, commandLineActor, systemActor } from './rules.ts';
export { type Change, deleteChangesBefore, recordChange } from './store.ts';
