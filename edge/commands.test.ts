import { describe, expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { DiscoveryResult } from '#shared/trunk-protocol.ts';
import { manner } from '../test/kit/edge/agent.ts';
import type { OutboundPlan } from './call/call-plan.ts';
import type { ParkOrder } from './call/ports/park.ts';
import type { TransferOrder } from './call/ports/transfer.ts';
import { carryOut } from './commands.ts';

const found: DiscoveryResult = {
  status: 'completed',
  error: null,
  resolved_addresses: ['203.0.113.10'],
  srv_records: [],
  attempts: [],
  recommended: null,
  tls: null,
};

function targets() {
  const done: unknown[] = [];
  const reports: ReportBody[] = [];
  return {
    done,
    reports,
    calls: {
      stop: (callId: string) => done.push(['stop', callId]),
      place: (plan: OutboundPlan) => done.push(['place', plan.callId, plan.from, plan.to, plan.precallDtmf]),
      record: (callId: string, action: string) => done.push(['record', callId, action]),
      hold: (callId: string, action: string) => done.push(['hold', callId, action]),
      transfer: async (callId: string, order: TransferOrder) => done.push(['transfer', callId, order]),
      park: (callId: string, order: ParkOrder) => done.push(['park', callId, order]),
      retrieve: async (callId: string, by: string) => done.push(['retrieve', callId, by]),
      supervisions: {
        change: (...order: unknown[]) => done.push(['supervise', ...order]),
        whisper: async (callId: string, text: string) => {
          done.push(['whisper', callId, text]);
        },
      },
      conferences: {
        control: (callId: string, action: string) => done.push(['conference', callId, action]),
      },
    },
    trunks: {
      failBack: (trunkId: string) => done.push(['failback', trunkId]),
      discover: async (query: { host: string; port: number | null; transport: string | null }) => {
        done.push(['discover', query.host, query.port, query.transport]);
        return found;
      },
    },
    signaling: {
      register: (trunkId: string, orderId: string) => done.push(['register', trunkId, orderId]),
    },
    phoneAgents: { expect: (agent: { session_id: string }) => done.push(['phone agent', agent.session_id]) },
    testCall: (order: { test_call_id: string }) => done.push(['test call', order.test_call_id]),
    testRun: async (order: { run_id: string }) => {
      done.push(['test run', order.run_id]);
    },
    report: (body: ReportBody) => reports.push(body),
  };
}

describe('a command from control', () => {
  it('stops a call', async () => {
    const edge = targets();
    await carryOut({ kind: 'call.stop', call_id: 'c1' }, edge);
    expect(edge.done).toEqual([['stop', 'c1']]);
  });

  it.each(['pause', 'resume'] as const)('lets a call %s its recording', async (action) => {
    const edge = targets();
    await carryOut({ kind: 'call.recording', call_id: 'c1', action }, edge);
    expect(edge.done).toEqual([['record', 'c1', action]]);
  });

  it.each(['hold', 'resume'] as const)('carries out %s on a call', async (action) => {
    const edge = targets();
    await carryOut({ kind: 'call.hold', call_id: 'c1', action }, edge);
    expect(edge.done).toEqual([['hold', 'c1', action]]);
  });

  it('parks a call, and joins it with another', async () => {
    const edge = targets();
    await carryOut({ kind: 'call.park', call_id: 'c1', slot: '7', timeout_s: 60, on_timeout: 'agent' }, edge);
    await carryOut({ kind: 'call.retrieve', call_id: 'c1', by_call_id: 'c2' }, edge);
    expect(edge.done).toEqual([
      ['park', 'c1', { slot: '7', timeoutMs: 60_000, atEnd: 'agent' }],
      ['retrieve', 'c1', 'c2'],
    ]);
  });

  it.each(['mute', 'unmute', 'remove'] as const)('can %s a party of a conference', async (action) => {
    const edge = targets();
    await carryOut({ kind: 'call.conference', call_id: 'c1', action }, edge);
    expect(edge.done).toEqual([['conference', 'c1', action]]);
  });

  it('registers a record now', async () => {
    const edge = targets();
    await carryOut({ kind: 'registration.try', order_id: 'o1', trunk_id: 't1' }, edge);
    expect(edge.done).toEqual([['register', 't1', 'o1']]);
  });

  it('places a call under the id assigned by control', async () => {
    const edge = targets();
    await carryOut(
      {
        kind: 'call.place',
        call_id: 'c1',
        org_id: 'o1',
        number: '+14155550100',
        to: '+14155550123',
        variables: {},
        precall_dtmf: '1w2',
        voicemail: { action: 'hangup', message: null },
        agent: { kind: 'echo', ...manner },
      },
      edge,
    );
    expect(edge.done).toEqual([['place', 'c1', '+14155550100', '+14155550123', '1w2']]);
  });

  it.each([
    [null, null, null],
    ['Mrs. Lee is calling', '1', { announcement: 'Mrs. Lee is calling', acceptKey: '1' }],
    [null, '1', { announcement: null, acceptKey: '1' }],
  ])(
    'transfers a call, with announcement %s and accept key %s',
    async (announcement, accept_key, consult) => {
      const edge = targets();
      const target = '+14155550199';
      await carryOut(
        { kind: 'call.transfer', call_id: 'c1', target, method: 'bridge', announcement, accept_key },
        edge,
      );
      expect(edge.done).toEqual([['transfer', 'c1', { target, method: 'bridge', consult }]]);
    },
  );

  it('returns a trunk to its primary', async () => {
    const edge = targets();
    await carryOut({ kind: 'trunk.failback', trunk_id: 't1' }, edge);
    expect(edge.done).toEqual([['failback', 't1']]);
  });

  it('places a test call', async () => {
    const edge = targets();
    await carryOut(
      {
        kind: 'test_call.run',
        test_call_id: 'tc_1',
        org_id: 'o1',
        number: '+14155550100',
        to: '1001',
        trunk_id: 't1',
        max_seconds: 10,
        dtmf: null,
      },
      edge,
    );
    expect(edge.done).toEqual([['test call', 'tc_1']]);
  });

  it('tells a supervisor of a call what to do, and the agent what to say', async () => {
    const edge = targets();
    const order = { call_id: 'c', session_id: 's', mode: 'take_over', note: null } as const;
    await carryOut({ kind: 'supervise.mode', ...order }, edge);
    await carryOut({ kind: 'supervise.whisper', call_id: 'c', text: 'Offer a refund.' }, edge);
    expect(edge.done).toEqual([
      ['supervise', 'c', 's', 'take_over', null],
      ['whisper', 'c', 'Offer a refund.'],
    ]);
  });

  it('runs a discovery and reports the result', async () => {
    const edge = targets();
    await carryOut(
      {
        kind: 'discovery.run',
        discovery_id: 'disc_1',
        host: 'sip.example.com',
        port: null,
        transport: 'tls',
      },
      edge,
    );
    await Promise.resolve();
    expect(edge.done).toEqual([['discover', 'sip.example.com', null, 'tls']]);
    expect(edge.reports).toEqual([{ type: 'discovery', discovery_id: 'disc_1', result: found }]);
  });
});
