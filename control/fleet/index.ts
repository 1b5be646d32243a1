/** The edges as a fleet: who does what, and what they learn from each other. */
export { Fleet } from './fleet.ts';
