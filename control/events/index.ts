/** What happens in organizations, for those who follow it: recorded, stored for a while, and streamed. */
export { Followers } from './followers.ts';
export { eventLimits } from './limits.ts';
export {
  changeAndRecord,
  eventSubject,
  type Followed,
  inTransaction,
  nobody,
  recordEvents,
} from './record.ts';
export { eventRoutes } from './routes.ts';
export { createEvents } from './start.ts';
export type { EventType, Happening } from './types.ts';
export { forgetEvents } from './windows-store.ts';
