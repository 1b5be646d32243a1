/** Short-lived credentials with which browsers call. */
export { phoneSessionRoutes } from './routes.ts';
export { openPhones, type StoredPhones } from './rules.ts';
export { countPhoneCalls, phonesOf, prunePhoneSessions } from './store.ts';
