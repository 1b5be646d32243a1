/** The database: opening, migrations, tables, and the background work on it. */

export { isServer, shownAddress } from './address.ts';
export { type BackgroundWork, rounds, together } from './background-work.ts';
export { deleteInBatches, mostDeletedAtOnce } from './batches.ts';
export { builtOnce } from './built-once.ts';
export { endKnownAt, meanOpinion, otherParty, poorSound } from './call-expressions.ts';
export { beginChanges, copyChanges, endChanges } from './copy/changes.ts';
export { copyRows, countAll, isEmpty } from './copy/copy.ts';
export { databaseTime } from './database-time.ts';
export { type DueItem, DueWork, type Without } from './due-work.ts';
export { emptiedList } from './emptied-list.ts';
export { excluded } from './excluded.ts';
export { FailureLog } from './failure-log.ts';
export { FenceLost, outsideFences, sameFence } from './fence.ts';
export {
  asJson,
  fromJson,
  type Json,
  openJson,
  type SealedJson,
  sealJson,
  sealText,
  toJson,
} from './json.ts';
export { isPresent, livingReplicas } from './leases.ts';
export { databaseLimits } from './limits.ts';
export { type ColumnTypes, insertsMany, isAmong, isListed, updatesMany } from './many.ts';
export { onIndex } from './on-index.ts';
export {
  type Database,
  DatabaseTooNew,
  isCurrent,
  openDatabase,
  schemaState,
} from './open.ts';
export { type Listening, wakeListeners } from './postgres/listening.ts';
export { addPartitions, dropPartitionsBefore, undatedRows } from './postgres/partitions.ts';
export { serverVersion } from './postgres/server-version.ts';
export { serverWords } from './postgres/words.ts';
export { Replica } from './replica.ts';
export { measureReplica } from './replica-metrics.ts';
export { keptSecretKey, loadSecretKey, SecretBox } from './secrets.ts';
export { holdDataFolder } from './sqlite/data-lock.ts';
export type { SyncLog } from './sqlite/durability.ts';
export { copyDatabase, damageOf, quickDamageOf, renameDatabase, withCompanions } from './sqlite/files.ts';
export { sealEarlier } from './sqlite/seal-earlier.ts';
export type {
  AlertNoticeRow,
  AlertRow,
  ApiKeyRow,
  AuditEntryRow,
  CallRow,
  CallSumRow,
  ChatRow,
  Db,
  DiscoveryRow,
  EdgeConfigItemRow,
  EdgeRow,
  EdgeTokenRow,
  EventRow,
  EventWindowRow,
  Flag,
  IdempotentAnswerRow,
  IdempotentWorkRow,
  IntegrationResourceRow,
  MeasuredPartRow,
  NumberRow,
  OrganizationRow,
  OutboxRow,
  PathwayRow,
  PathwayVersionRow,
  PendingPromotionRow,
  PersonaRow,
  PersonaVersionRow,
  PhoneKeyRow,
  PhoneSessionRow,
  PortDocumentRow,
  PortHistoryRow,
  PortLetterRow,
  PortMailRow,
  PortNumberRow,
  PortOrderRow,
  PortRequestRow,
  PortStatus,
  RecordingKeyRow,
  RecordingObjectRow,
  RecordingRow,
  RecordingRun,
  RecordingStorageRow,
  RefusedInvitesRow,
  RegistrationRow,
  RejectedReportRow,
  SessionRow,
  SipConfigurationRow,
  StoredEvent,
  TestAgentRow,
  TestAssertionResultRow,
  TestAssertionRow,
  TestBatchRow,
  TestCallRow,
  TestLoadRow,
  TestNoiseRow,
  TestRunRecordRow,
  TestRunRow,
  TestScenarioRow,
  TestSimulationSetRow,
  TestTornadoIterationRow,
  TestTornadoSessionRow,
  TestWatchedCallRow,
  TestWatchRow,
  ToolRow,
  ToolRunRow,
  TracePartRow,
  TranscriptPartRow,
  TrunkEndpointRow,
  TrunkHourRow,
  TrunkProbeRunRow,
  WebhookDeliveryRow,
  WidgetCallRow,
  WidgetMessageRow,
  WidgetRow,
  WidgetSessionRow,
  WidgetThreadRow,
} from './tables.ts';
export { findParts, type Phrase } from './transcript-words.ts';
export { pause, SharedTurns } from './turns.ts';
export { claimWork, endWork, mostCrashes, pauseAfterCrash, takeOver, underWay } from './under-way.ts';
export { readUnmigrated } from './unmigrated.ts';
