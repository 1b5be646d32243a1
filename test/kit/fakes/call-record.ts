import type { CallRecord } from '#shared/edge-protocol/calls.ts';

/** A call that has just started; tests change the fields that they are about. */
export function callRecord(changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: '6f1c1d0e-0000-4000-8000-000000000001',
    org_id: '6f1c1d0e-0000-4000-8000-0000000000aa',
    sip_call_id: 'call-1@pbx.example.com',
    direction: 'inbound',
    from: '+14155550123',
    to: '+14155550100',
    number: '+14155550100',
    trunk_id: '6f1c1d0e-0000-4000-8000-0000000000bb',
    source_ip: '203.0.113.9',
    started_at: '2030-01-01T00:00:00.000Z',
    answered_at: null,
    ended_at: null,
    status: 'ringing',
    sip_code: null,
    sip_reason: null,
    termination: null,
    termination_detail: null,
    hangup_by: null,
    codec: null,
    media: null,
    agent_kind: 'pathway',
    pathway_id: null,
    pathway_version: null,
    max_duration: 30,
    request_data: {},
    variables: {},
    ...changes,
  };
}
