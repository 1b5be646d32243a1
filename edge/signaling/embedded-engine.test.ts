/** Signaling on the embedded engine: every part is real except media and agents. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { newId } from '#shared/ids.ts';
import { createAuthority } from '../../test/kit/fakes/certificates.ts';
import { echoAgent, FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { sdpOffer } from '../../test/kit/fakes/fake-leg.ts';
import { FakeMedia } from '../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { SipCaller, sipRequest, toTagOf } from '../../test/kit/fakes/sip-caller.ts';
import { Calls } from '../call/calls.ts';
import { EngineProcess } from '../engine-process.ts';
import { createLog } from '../log.ts';
import { Signaling } from './signaling.ts';

const config: EdgeConfig = {
  version: 1,
  organizations: [],
  numbers: [
    {
      number: '+14155550100',
      org_id: 'org',
      agent: echoAgent,
      outbound: [],
      inbound: [
        {
          id: 'trunk',
          auth_mode: 'ip',
          allowed_ips: ['127.0.0.1'],
          source_host: null,
          headers: [],
          codecs: [],
        },
      ],
    },
  ],
  pathways: [],
  allowed_private_targets: [],
  open_inbound: false,
};

const authority = createAuthority();
const agents = new FakeAgents();
let folder: string;
let port: number;
let engine: EngineProcess;
let signaling: Signaling;
let calls: Calls;
let records: CallRecord[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signaling-'));
  const pair = authority.issue({ names: ['IP:127.0.0.1'] });
  const [cert, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  writeFileSync(cert, pair.cert);
  writeFileSync(key, pair.key);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  server.close();
  const up = Promise.withResolvers<void>();
  calls = new Calls({
    clock: systemClock,
    log: new QuietLog(),
    newId,
    media: new FakeMedia(),
    agents,
    maxCalls: 1000,
    settings: { ringAfterMs: 0, prepareTimeoutMs: 10_000, mediaTimeoutMs: 0 },
    reporter: { report: (body) => void (body.type === 'call' && records.push(body.call)) },
  });
  signaling = new Signaling({
    clock: systemClock,
    log: new QuietLog(),
    calls,
    publicAddress: null,
    software: 'Trunkline/test',
    session: { expiresS: 1800, minS: 90 },
    strangers: { tries: 2, windowS: 60, blockS: 600, maxSources: 10 },
    refused: () => {},
    engineUp: () => up.resolve(),
  });
  signaling.configure(config);
  engine = new EngineProcess({
    program: join(import.meta.dirname, '..', 'engine', 'main.ts'),
    config: {
      tls: { host: '127.0.0.1', port, cert, key },
      wss: null,
      publicHost: null,
      app: { host: '127.0.0.1', port: 0, secret: 's' },
      clientTls: { ca: null, folder: null },
      hep: null,
      limits: {},
    },
    clock: systemClock,
    log: createLog('silent'),
    onReady: (app) => signaling.connect({ ...app, secret: 's' }),
    onRestart: () => {},
    onUnusable: () => up.reject(new Error('the engine cannot start')),
  });
  engine.start();
  await up.promise;
});

afterAll(async () => {
  signaling.close();
  await engine.stop();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  records = [];
  agents.ready = true;
});

const lastOf = (sipCallId: string) => records.findLast((record) => record.sip_call_id === sipCallId);

describe('a call over TLS', () => {
  it('whose ACK and BYE arrive in one TLS record is always completed', async () => {
    const caller = await SipCaller.connect(port, authority.cert);
    for (let round = 0; round < 50; round++) {
      const callId = `quick-${round}`;
      caller.send(sipRequest('INVITE', { callId, body: sdpOffer }));
      const toTag = toTagOf(await caller.final());
      caller.send(sipRequest('ACK', { callId, toTag }), sipRequest('BYE', { callId, toTag, cseq: 2 }));
      expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
      expect(lastOf(callId)).toMatchObject({ termination: 'caller_hangup', status: 'completed' });
    }
    expect(calls.size).toBe(0);
    expect(signaling.dialogs).toBe(0);
    caller.close();
  });

  it('is canceled by a CANCEL in the TLS record of its INVITE', async () => {
    agents.ready = false;
    const caller = await SipCaller.connect(port, authority.cert);
    const branch = 'same';
    caller.send(
      sipRequest('INVITE', { callId: 'cancel', body: sdpOffer, branch }),
      sipRequest('CANCEL', { callId: 'cancel', branch }),
    );
    const finals = [await caller.final(), await caller.final()].map(
      (heard) => `${heard?.startLine} ${heard?.headers.cseq}`,
    );
    expect(finals.sort()).toEqual(['SIP/2.0 200 OK 1 CANCEL', 'SIP/2.0 487 Request Terminated 1 INVITE']);
    await expect.poll(() => lastOf('cancel')?.termination).toBe('caller_canceled');
    caller.close();
  });

  it('is hung up by the agent, and the caller gets the BYE', async () => {
    const caller = await SipCaller.connect(port, authority.cert);
    caller.send(sipRequest('INVITE', { callId: 'agent', body: sdpOffer }));
    const answer = await caller.final();
    caller.send(sipRequest('ACK', { callId: 'agent', toTag: toTagOf(answer) }));
    await expect.poll(() => agents.last.started).toBe(1);
    agents.last.host.hangup('all said');
    const bye = await caller.next();
    expect(bye?.startLine).toBe('BYE sip:ada@127.0.0.1:5061;transport=tls SIP/2.0');
    expect(bye?.headers).toMatchObject({
      reason: 'SIP;cause=200;text="all said"',
      'user-agent': 'Trunkline/test',
    });
    expect(signaling.dialogs).toBe(1);
    caller.send(
      [
        'SIP/2.0 200 OK',
        ...['via', 'from', 'to', 'call-id', 'cseq'].map((name) => `${name}: ${bye?.headers[name]}`),
        'Content-Length: 0\r\n\r\n',
      ].join('\r\n'),
    );
    await expect.poll(() => signaling.dialogs).toBe(0);
    caller.close();
  });

  it('rings reliably when the caller requires it, and continues after PRACK', async () => {
    agents.ready = false;
    const caller = await SipCaller.connect(port, authority.cert);
    caller.send(sipRequest('INVITE', { callId: 'rel', body: sdpOffer, headers: ['Require: 100rel'] }));
    let ringing = await caller.next();
    while (ringing && !ringing.startLine.includes('180')) ringing = await caller.next();
    expect(ringing?.headers.require).toBe('100rel');
    const toTag = toTagOf(ringing);
    const rack = `RAck: ${ringing?.headers.rseq} 1 INVITE`;
    caller.send(sipRequest('PRACK', { callId: 'rel', toTag, cseq: 2, headers: [rack] }));
    expect(await caller.final()).toMatchObject({ startLine: 'SIP/2.0 200 OK', headers: { cseq: '2 PRACK' } });
    agents.last.becomeReady();
    expect(await caller.final()).toMatchObject({
      startLine: 'SIP/2.0 200 OK',
      headers: { cseq: '1 INVITE' },
    });
    caller.send(
      sipRequest('ACK', { callId: 'rel', toTag }),
      sipRequest('BYE', { callId: 'rel', toTag, cseq: 3 }),
    );
    expect((await caller.final())?.startLine).toBe('SIP/2.0 200 OK');
    caller.close();
  });

  it('from a stranger is rejected, and after the last allowed attempt the engine blocks its address', async () => {
    const stranger = await SipCaller.connect(port, authority.cert, '127.0.0.2');
    stranger.send(sipRequest('INVITE', { callId: 's1', body: sdpOffer }));
    const first = await stranger.final();
    expect(first?.startLine).toBe('SIP/2.0 403 Forbidden');
    stranger.send(sipRequest('ACK', { callId: 's1', toTag: toTagOf(first), branch: 's1-1-INVITE' }));
    stranger.send(sipRequest('INVITE', { callId: 's2', body: sdpOffer }));
    const second = await stranger.final();
    expect(second?.headers['x-trunkline-block']).toBeUndefined();
    stranger.send(sipRequest('OPTIONS', { callId: 's3' }));
    expect(await stranger.final()).toBeNull();
  });
});
