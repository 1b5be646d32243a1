/** The edge's part of *Connect a PBX*, for tests and pictures: what it finds, and the steps of a test call. */
import type { TestCallState } from '#shared/edge-protocol/reports.ts';
import type { DiscoveryResult } from '#shared/trunk-protocol.ts';
import type { EdgeClient } from './edge-client.ts';

export const foundPbx: DiscoveryResult = {
  status: 'completed',
  error: null,
  resolved_addresses: ['203.0.113.10'],
  srv_records: [],
  attempts: [
    {
      address: '203.0.113.10',
      port: 5061,
      transport: 'tls',
      response_time_ms: 45,
      response_code: 200,
      user_agent: 'Asterisk PBX 20.9',
      error: null,
    },
  ],
  recommended: {
    port: 5061,
    transport: 'tls',
    detected_system: 'Asterisk',
    confidence: 0.97,
    evidence: ['its name is "Asterisk PBX 20.9"'],
    user_agent: 'Asterisk PBX 20.9',
    codecs: ['PCMU'],
    methods: ['INVITE'],
    usable: true,
    reason: 'TLS on port 5061 answered OPTIONS with 200 in 45 ms.',
  },
  tls: {
    version: 'TLSv1.3',
    cipher: 'TLS_AES_256_GCM_SHA384',
    subject: 'CN=pbx.example.com',
    issuer: 'CN=Test authority',
    valid_to: '2040-01-01T00:00:00.000Z',
    trusted: true,
  },
};

/** A test call that rings. */
export function ringing(): TestCallState {
  return {
    status: 'ringing',
    result: 'pending',
    duration_seconds: 0,
    sip_code: null,
    sip_call_id: null,
    codec: null,
    error: null,
    diagnosis: null,
    timeline: [{ event: 'ringing', at: new Date().toISOString(), detail: '180 Ringing' }],
    media: null,
  };
}

/** What a test call has at its end in which both sides were heard. */
export const heardBothWays: Partial<TestCallState> = {
  status: 'completed',
  result: 'connected',
  codec: 'PCMU',
  media: { packets_sent: 114, packets_received: 114, verdict: 'two_way' },
};

/** Takes the next command of an edge that a test plays, and says that it was done. */
export async function takeCommand<K extends string>(edge: EdgeClient, kind: K) {
  const { id, command } = await edge.next('command');
  if (command.kind !== kind) throw new Error(`unexpected ${command.kind}`);
  edge.send({ type: 'result', id, ok: true });
  return command;
}
