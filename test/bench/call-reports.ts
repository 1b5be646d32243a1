/** Call reports as an edge sends them, for benchmarks that store them. */
import { callRecord } from '../kit/control/edge-client.ts';

/** Reports of one call: three states, one transcript, a trace of 8 messages in two parts. */
export const reportsPerCall = 6;
export const callsPerFrame = 50;

/**
 * A frame of reports, as text.
 * @param frame from 0 on
 * @param calls number of calls in all frames
 */
export function reportsOfFrame(orgId: string, frame: number, calls: number): string {
  const bodies: object[] = [];
  for (let index = frame * callsPerFrame; index < Math.min(calls, (frame + 1) * callsPerFrame); index++) {
    bodies.push(...bodiesOfCall(orgId, index));
  }
  const first = frame * callsPerFrame * reportsPerCall + 1;
  const reports = bodies.map((body, index) => ({ seq: first + index, at: new Date().toISOString(), body }));
  return JSON.stringify({ type: 'report', reports });
}

function bodiesOfCall(orgId: string, index: number): object[] {
  const id = `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const started_at = new Date(Date.UTC(2030, 0, 1) + index * 10).toISOString();
  const call = callRecord(orgId, { id, sip_call_id: `${id}@pbx.example.com`, started_at });
  const open = { ...call, ended_at: null, termination: null, hangup_by: null, media: null };
  const message = {
    at: started_at,
    direction: 'received',
    local: '203.0.113.20:5061',
    remote: '198.51.100.9:40312',
    transport: 'tls',
    start_line: 'INVITE sip:+14155550100@edge.example.com SIP/2.0',
    raw: `INVITE sip:+14155550100@edge.example.com SIP/2.0\r\n${'X-Header: some value of a usual length\r\n'.repeat(20)}\r\n`,
  };
  const entry = {
    id,
    at: started_at,
    user: 'assistant',
    text: 'Welcome. Press 1 for sales.',
    node_id: 'a',
    node_name: 'A',
  };
  const trace = { type: 'trace', call_id: id, messages: Array(4).fill(message), truncated: false };
  return [
    { type: 'call', call: { ...open, answered_at: null, status: 'ringing', sip_code: null } },
    { type: 'call', call: { ...open, status: 'in-progress', sip_code: null } },
    { type: 'transcript', call_id: id, entries: [entry, entry] },
    trace,
    { type: 'call', call },
    trace,
  ];
}
