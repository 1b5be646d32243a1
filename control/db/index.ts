/** The database: opening, migrations, tables, and the background work on it. */
export { type BackgroundWork, rounds, together } from './background-work.ts';
export { deleteInBatches, mostDeletedAtOnce } from './batches.ts';
export { builtOnce } from './built-once.ts';
export { type DueItem, DueWork, type Without } from './due-work.ts';
export { fromJson, type Json, toJson } from './json.ts';
export { type Database, DatabaseTooNew, openDatabase } from './open.ts';
export { sealEarlier } from './seal-earlier.ts';
export { keptSecretKey, loadSecretKey, SecretBox } from './secrets.ts';
export type {
  AlertNoticeRow,
  AlertRow,
  ApiKeyRow,
  AuditEntryRow,
  CallRow,
  ChatRow,
  Db,
  DiscoveryRow,
  EdgeConfigItemRow,
  EdgeRow,
  EdgeTokenRow,
  IdempotentAnswerRow,
  IdempotentWorkRow,
  IntegrationResourceRow,
  NumberRow,
  OrganizationRow,
  PathwayRow,
  PathwayVersionRow,
  PendingPromotionRow,
  PersonaRow,
  PersonaVersionRow,
  PortDocumentRow,
  PortHistoryRow,
  PortLetterRow,
  PortMailRow,
  PortNumberRow,
  PortOrderRow,
  PortRequestRow,
  PortStatus,
  RegistrationRow,
  SipConfigurationRow,
  TestAssertionResultRow,
  TestAssertionRow,
  TestBatchRow,
  TestCallRow,
  TestRunRecordRow,
  TestRunRow,
  TestScenarioRow,
  TestSimulationSetRow,
  TestTornadoIterationRow,
  TestTornadoSessionRow,
  ToolRow,
  ToolRunRow,
  TrunkEndpointRow,
  TrunkHourRow,
  TrunkProbeRunRow,
  WebhookDeliveryRow,
  WidgetMessageRow,
  WidgetRow,
  WidgetSessionRow,
  WidgetThreadRow,
} from './tables.ts';
export { beginWork, endWork, interruptedWork, mostCrashes, pauseAfterCrash } from './under-way.ts';
export { workUnderWay } from './work-report.ts';
