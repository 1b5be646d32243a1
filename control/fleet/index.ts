/** The edges as a fleet: who does what, and what they learn from each other. */
export { Fleet, removedEdges } from './fleet.ts';
