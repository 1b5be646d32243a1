/** Written by `node scripts/api-types.ts` from the OpenAPI document; do not edit. */
import type { ListItems } from './generated.ts';

export interface ListShape {
  /** The parameter that selects the next page. */
  readonly by: 'before' | 'after' | 'page' | 'offset';
  /** Where the items are in the answer. */
  readonly items: readonly string[];
  /** Largest page. */
  readonly most: number;
}

export const lists: Readonly<Record<keyof ListItems, ListShape>> = {
  'GET /v2/tools': { by: 'page', items: ['data', 'tools'], most: 1000 },
  'GET /v2/tools/{id}/logs': { by: 'page', items: ['data', 'logs'], most: 100 },
  'GET /v1/widget': { by: 'page', items: ['data', 'widgets'], most: 100 },
  'GET /v1/widget/{id}/threads': { by: 'page', items: ['data', 'threads'], most: 100 },
  'GET /v1/sip/port/document': { by: 'offset', items: ['data', 'documents'], most: 100 },
  'GET /v1/sip/port': { by: 'offset', items: ['data', 'port_requests'], most: 500 },
  'GET /v1/admin/ports': { by: 'offset', items: ['data', 'port_requests'], most: 500 },
  'GET /v1/sip/alerts': { by: 'before', items: ['data', 'alerts'], most: 500 },
  'GET /v1/agent-testing/runs': { by: 'offset', items: ['data', 'runs'], most: 100 },
  'GET /v1/agent-testing/batches': { by: 'offset', items: ['data', 'batches'], most: 100 },
  'GET /v1/agent-testing/simulation-sets': { by: 'offset', items: ['data', 'simulation_sets'], most: 100 },
  'GET /v1/agent-testing/matrices': { by: 'before', items: ['data', 'matrices'], most: 50 },
  'GET /v1/agent-testing/loads': { by: 'offset', items: ['data', 'loads'], most: 100 },
  'GET /v1/agent-testing/tornado': { by: 'offset', items: ['data', 'sessions'], most: 100 },
  'GET /v1/sip/numbers': { by: 'offset', items: ['data', 'numbers'], most: 1000 },
  'GET /v1/conferences': { by: 'before', items: ['data', 'conferences'], most: 100 },
  'GET /v1/calls': { by: 'before', items: ['data', 'calls'], most: 500 },
  'GET /v1/sip/calls/aggregates': { by: 'after', items: ['data', 'aggregates'], most: 500 },
  'GET /v1/sip/calls/{call_id}/timeline': { by: 'after', items: ['data', 'turns'], most: 500 },
  'GET /v1/sip/refused': { by: 'before', items: ['data', 'refused'], most: 500 },
  'GET /v1/admin/refused': { by: 'before', items: ['data', 'refused'], most: 500 },
  'GET /v1/sip/calls': { by: 'before', items: ['data', 'calls'], most: 500 },
  'GET /v1/calls/transcripts': { by: 'before', items: ['data', 'lines'], most: 100 },
  'GET /v1/calls/recordings': { by: 'before', items: ['data', 'recordings'], most: 100 },
  'GET /v1/phone-sessions': { by: 'offset', items: ['data', 'phone_sessions'], most: 500 },
  'GET /v1/org/keys': { by: 'offset', items: ['data', 'keys'], most: 500 },
  'GET /v1/sessions': { by: 'offset', items: ['data', 'sessions'], most: 500 },
  'GET /v1/org/audit': { by: 'before', items: ['data', 'entries'], most: 500 },
  'GET /v1/admin/audit': { by: 'before', items: ['data', 'entries'], most: 500 },
  'GET /v1/org/webhook-deliveries': { by: 'before', items: ['data', 'deliveries'], most: 500 },
  'GET /v1/admin/edges': { by: 'offset', items: ['data', 'edges'], most: 500 },
  'GET /v1/inbound': { by: 'offset', items: ['inbound_numbers'], most: 500 },
  'GET /v1/pathway': { by: 'offset', items: [], most: 500 },
  'GET /v1/pathway/{id}/versions': { by: 'offset', items: [], most: 500 },
  'GET /v1/personas': { by: 'page', items: ['data'], most: 100 },
  'GET /v1/personas/{id}/versions': { by: 'offset', items: ['data'], most: 100 },
  'GET /v1/pathway/chat': { by: 'offset', items: ['data', 'chats'], most: 100 },
  'GET /v1/integrations/{integration}/resources': { by: 'offset', items: ['data', 'resources'], most: 500 },
  'GET /v1/agent-testing/scenarios': { by: 'offset', items: ['data', 'scenarios'], most: 500 },
  'GET /v1/agent-testing/agents': { by: 'offset', items: ['data', 'agents'], most: 100 },
  'GET /v1/agent-testing/analytics/{pathwayId}/versions': { by: 'offset', items: ['data', 'versions'], most: 50 },
  'GET /v1/agent-testing/watches/{id}/calls': { by: 'offset', items: ['data', 'calls'], most: 50 },
};

/** POSTs that take no Idempotency-Key. */
export const unkeyed: readonly string[] = [
  'POST /v1/widget/{id}/session',
  'POST /v1/session',
  'POST /v1/sip/port/sign/{token}',
];
