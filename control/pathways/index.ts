/** Pathways: graphs, their versions, and which version is active. */
export { publishVersion } from './publish-store.ts';
export { personaSource, setReferences, versionsReferredTo } from './references-store.ts';
export { requirePathway, requireVersion } from './require-store.ts';
export { pathwayRoutes } from './routes.ts';
export {
  acceptGraph,
  contentHash,
  type OpenObject,
  type PublishedVersions,
  resolveVersion,
  sortedHash,
  transferReferences,
} from './rules.ts';
export { findPathway, findVersion, insertPathway, latestVersion, pageOfVersions } from './store.ts';
export { withTransferVersions } from './transfers-store.ts';
export { dropVersion, keepVersion, versionUsers } from './versions-store.ts';
export { versionLine } from './views.ts';
