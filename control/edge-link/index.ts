/** The link to the edges: connections, commands, reports. */
export { Announcements } from './announcements.ts';
export type { RegionWish } from './choice.ts';
export { Unanswered } from './command-rules.ts';
export { edgeLinkLimits } from './limits.ts';
export { isPublished, versionsOfNumbers } from './published-versions.ts';
export { type ConnectedEdge, ConnectedEdges, diskOf, hasEngine, takesCalls } from './registry.ts';
export {
  type ReportEffects,
  type ReportSource,
  ReportStore,
  type Reports,
  type ReportWriters,
} from './reports.ts';
export { SharedEdges } from './shared-edges.ts';
export { addressesIn } from './store.ts';
export { acceptEdges, type EdgeConnections } from './upgrade.ts';
