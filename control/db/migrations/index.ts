/** All migrations in order. Forward only: a released file is never edited, a new one is added. */
import type { Migration } from 'kysely/migration';
import { up as organizations } from './0001-organizations.ts';
import { up as numbers } from './0002-numbers.ts';
import { up as edgesAndCalls } from './0003-edges-and-calls.ts';
import { up as organizationSettings } from './0004-organization-settings.ts';
import { up as outboundCalls } from './0005-outbound-calls.ts';
import { up as trunkHealth } from './0006-trunk-health.ts';
import { up as trunkChecks } from './0007-trunk-checks.ts';
import { up as webhooks } from './0008-webhooks.ts';
import { up as registrations } from './0009-registrations.ts';
import { up as alerts } from './0010-alerts.ts';
import { up as callLimits } from './0011-call-limits.ts';
import { up as transfers } from './0012-transfers.ts';
import { up as pathwaysAndPersonas } from './0013-pathways-and-personas.ts';
import { up as porting } from './0014-porting.ts';
import { up as widgets } from './0015-widgets.ts';
import { up as tools } from './0016-tools.ts';
import { up as audit } from './0017-audit.ts';
import { up as agentTesting } from './0018-agent-testing.ts';
import { up as idempotentWork } from './0019-idempotent-work.ts';
import { up as callLogFilters } from './0020-call-log-filters.ts';
import { up as testRetention } from './0021-test-retention.ts';
import { up as widgetThreadClients } from './0022-widget-thread-clients.ts';
import { up as testRunCounts } from './0023-test-run-counts.ts';
import { up as operatorIdempotency } from './0024-operator-idempotency.ts';
import { up as callCeilings } from './0025-call-ceilings.ts';
import { up as pages } from './0026-pages.ts';
import { up as underWay } from './0027-under-way.ts';
import { up as wideSources } from './0028-wide-sources.ts';
import { up as transferMode } from './0029-transfer-mode.ts';
import { up as registrationNextTry } from './0030-registration-next-try.ts';
import { up as clockOfReports } from './0031-clock-of-reports.ts';
import { up as testRunOfCalls } from './0032-test-run-of-calls.ts';
import { up as replicas } from './0033-replicas.ts';
import { up as leases } from './0034-leases.ts';
import { up as fleetMembers } from './0035-fleet-members.ts';
import { up as fleet } from './0036-fleet.ts';
import { up as callLogByMonth } from './0037-call-log-by-month.ts';
import { up as transcriptWords } from './0038-transcript-words.ts';
import { up as leaseSessions } from './0039-lease-sessions.ts';
import { up as portDocumentParts } from './0040-port-document-parts.ts';
import { up as noReplicasTable } from './0042-no-replicas-table.ts';
import { up as recordings } from './0046-recordings.ts';
import { up as realtime } from './0047-realtime.ts';
import { up as pronunciations } from './0050-pronunciations.ts';
import { up as keyTerms } from './0051-key-terms.ts';
import { up as recordingStorages } from './0052-recording-storages.ts';
import { up as conferences } from './0053-conferences.ts';
import { up as keysAndSessions } from './0057-keys-and-sessions.ts';
import { up as events } from './0059-events.ts';
import { up as measurements } from './0061-measurements.ts';
import { up as callSearch } from './0062-call-search.ts';
import { up as refusedInvites } from './0063-refused-invites.ts';
import { up as callSums } from './0064-call-sums.ts';
import { up as phoneSessions } from './0065-phone-sessions.ts';
import { up as distinctConversations } from './0066-distinct-conversations.ts';
import { up as foreignAgents } from './0070-foreign-agents.ts';
import { up as removedElements } from './0071-removed-elements.ts';
import { up as phonesCallMore } from './0073-phones-call-more.ts';
import { up as tornadoFixes } from './0075-tornado-fixes.ts';
import { up as widgetCalls } from './0076-widget-calls.ts';
import { up as endpointCertificates } from './0077-endpoint-certificates.ts';
import { up as sumsOfAllTrunks } from './0077b-sums-of-all-trunks.ts';
import { up as promotionRepeats } from './0078-promotion-repeats.ts';
import { up as testMatrices } from './0079-test-matrices.ts';
import { up as provenAgents } from './0080-proven-agents.ts';
import { up as supervisors } from './0081-supervisors.ts';
import { up as tokensAndCost } from './0084-tokens-and-cost.ts';
import { up as testLoads } from './0085-test-loads.ts';
import { up as testWatches } from './0086-test-watches.ts';
import { up as storedEnds } from './0087-stored-ends.ts';
import { up as givenNoises } from './0087b-given-noises.ts';
import { up as matrixList } from './0090-matrix-list.ts';
import { up as runsAsIs } from './0091-runs-as-is.ts';

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-organizations': { up: organizations },
  '0002-numbers': { up: numbers },
  '0003-edges-and-calls': { up: edgesAndCalls },
  '0004-organization-settings': { up: organizationSettings },
  '0005-outbound-calls': { up: outboundCalls },
  '0006-trunk-health': { up: trunkHealth },
  '0007-trunk-checks': { up: trunkChecks },
  '0008-webhooks': { up: webhooks },
  '0009-registrations': { up: registrations },
  '0010-alerts': { up: alerts },
  '0011-call-limits': { up: callLimits },
  '0012-transfers': { up: transfers },
  '0013-pathways-and-personas': { up: pathwaysAndPersonas },
  '0014-porting': { up: porting },
  '0015-widgets': { up: widgets },
  '0016-tools': { up: tools },
  '0017-audit': { up: audit },
  '0018-agent-testing': { up: agentTesting },
  '0019-idempotent-work': { up: idempotentWork },
  '0020-call-log-filters': { up: callLogFilters },
  '0021-test-retention': { up: testRetention },
  '0022-widget-thread-clients': { up: widgetThreadClients },
  '0023-test-run-counts': { up: testRunCounts },
  '0024-operator-idempotency': { up: operatorIdempotency },
  '0025-call-ceilings': { up: callCeilings },
  '0026-pages': { up: pages },
  '0027-under-way': { up: underWay },
  '0028-wide-sources': { up: wideSources },
  '0029-transfer-mode': { up: transferMode },
  '0030-registration-next-try': { up: registrationNextTry },
  '0031-clock-of-reports': { up: clockOfReports },
  '0032-test-run-of-calls': { up: testRunOfCalls },
  '0033-replicas': { up: replicas },
  '0034-leases': { up: leases },
  '0035-fleet-members': { up: fleetMembers },
  '0036-fleet': { up: fleet },
  '0037-call-log-by-month': { up: callLogByMonth },
  '0038-transcript-words': { up: transcriptWords },
  '0039-lease-sessions': { up: leaseSessions },
  '0040-port-document-parts': { up: portDocumentParts },
  '0042-no-replicas-table': { up: noReplicasTable },
  '0046-recordings': { up: recordings },
  '0047-realtime': { up: realtime },
  '0050-pronunciations': { up: pronunciations },
  '0051-key-terms': { up: keyTerms },
  '0052-recording-storages': { up: recordingStorages },
  '0053-conferences': { up: conferences },
  '0057-keys-and-sessions': { up: keysAndSessions },
  '0059-events': { up: events },
  '0061-measurements': { up: measurements },
  '0062-call-search': { up: callSearch },
  '0063-refused-invites': { up: refusedInvites },
  '0064-call-sums': { up: callSums },
  '0065-phone-sessions': { up: phoneSessions },
  '0066-distinct-conversations': { up: distinctConversations },
  '0070-foreign-agents': { up: foreignAgents },
  '0071-removed-elements': { up: removedElements },
  '0073-phones-call-more': { up: phonesCallMore },
  '0075-tornado-fixes': { up: tornadoFixes },
  '0076-widget-calls': { up: widgetCalls },
  '0077-endpoint-certificates': { up: endpointCertificates },
  '0077b-sums-of-all-trunks': { up: sumsOfAllTrunks },
  '0078-promotion-repeats': { up: promotionRepeats },
  '0079-test-matrices': { up: testMatrices },
  '0080-proven-agents': { up: provenAgents },
  '0081-supervisors': { up: supervisors },
  '0084-tokens-and-cost': { up: tokensAndCost },
  '0085-test-loads': { up: testLoads },
  '0086-test-watches': { up: testWatches },
  '0087-stored-ends': { up: storedEnds },
  '0087b-given-noises': { up: givenNoises },
  '0090-matrix-list': { up: matrixList },
  '0091-runs-as-is': { up: runsAsIs },
};
