/** Rows of phone sessions, for tests that have no edge. */
import type { PhoneSessionRow } from '../../../control/db/index.ts';

export function phoneSessionRow(org_id: string): PhoneSessionRow {
  return {
    id: '00000000-0000-4000-8000-0000000000b1',
    org_id,
    edge_id: 'edge-1',
    number: '+14155550100',
    called: null,
    pathway_id: null,
    pathway_version: null,
    persona_id: null,
    supervises: null,
    supervision: null,
    caller: 'Ada',
    purpose: null,
    calls: 1,
    calls_made: 0,
    last_call_id: null,
    created_at: '2030-01-01T00:00:00.000Z',
    expires_at: '2100-01-01T00:00:00.000Z',
    revoked_at: null,
  };
}
