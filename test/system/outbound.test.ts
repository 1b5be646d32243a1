/** Calls ordered over the API: over a trunk to a peer with TLS and SRTP, including failures. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import { Discovered } from '#shared/api/trunk-checks.ts';
import { createSelfSigned, type TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk, type TrunkCall } from '../kit/programs/trunk.ts';
import {
  attachTrunk,
  health,
  setFailover,
  startTrunkSystem,
  trunkPair,
} from '../kit/programs/trunk-system.ts';

const silence = Buffer.alloc(160, 0xff);
/** A sample of speech is louder than this; the codec's own noise is not. */
const loud = 1000;

describe('a call over a trunk', () => {
  const from = '+14155550140';
  let system: TestSystem;
  let trunk: TestTrunk;
  let pair: TestKeyPair;
  let media: SrtpPeer;
  let pathway: string;

  beforeAll(async () => {
    // Only the first probe of each endpoint runs during the test; after that dead endpoints are detected by calls.
    system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
    pair = await trunkPair(system);
    trunk = await TestTrunk.listen(pair);
    media = await SrtpPeer.open();
    pathway = await system.api.pathway(
      'reminder',
      [
        { id: 'ask', type: 'Default', data: { name: 'Ask', text: 'Will you come?', isStart: true } },
        { id: 'yes', type: 'End Call', data: { name: 'Yes', text: 'See you.' } },
        { id: 'no', type: 'End Call', data: { name: 'No', text: 'What a pity.' } },
      ],
      [
        { id: 'e1', source: 'ask', target: 'yes', data: { label: 'User pressed 1' } },
        { id: 'e2', source: 'ask', target: 'no', data: { label: 'User pressed 2' } },
      ],
    );
    await attachTrunk(system, from, trunk.port);
  });

  afterAll(() =>
    releaseAll(
      () => media?.close(),
      () => system?.stop(),
      () => trunk?.close(),
    ),
  );

  /** @returns the id of the call */
  async function place(to: string, number = from, more: Record<string, unknown> = {}): Promise<string> {
    const order = { phone_number: to, from: number, pathway_id: pathway, ...more };
    const { call_id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
    return call_id;
  }

  const ended = (id: string) => system.api.endedCall(id);

  function pickUp(call: TrunkCall): Promise<void> {
    media.connect(call.invite.body);
    call.answer('200 OK', media.sdp());
    return call.expect('ACK').then(() => {});
  }

  /** The audio of a peer that stopped sending no longer counts as arriving. */
  async function keepTalking(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await media.play(Array(10).fill(silence));
  }

  /** Ends a call over the API, and returns its log entry. */
  async function stop(id: string, call: TrunkCall): Promise<CallLogEntry> {
    await system.api.ok('POST', `/v1/calls/${id}/stop`, {});
    await call.expect('BYE');
    return ended(id);
  }

  test('is answered, hears the pathway speak and takes the branch of the pressed key', async () => {
    const to = '+14155550161';
    const id = await place(to);
    const call = await trunk.call();
    expect(call.invite.startLine).toMatch(/^INVITE sips?:\+14155550161@127\.0\.0\.1:\d+\S* SIP\/2\.0$/);
    expect(call.invite.header('from')).toContain(from);
    expect(call.invite.header('contact')).toContain(`127.0.0.1:${system.sipPort}`);
    expect(call.invite.raw).not.toMatch(/^x-trunkline/im);
    expect(call.invite.body).toMatch(/^m=audio \d+ RTP\/SAVP /m);
    expect(call.invite.body).toMatch(/^a=crypto:\d+ AES_/m);
    call.answer('180 Ringing');
    await eventually('the call to ring', async () => {
      const { status } = await system.api.detail(id);
      return status === 'ringing' || null;
    });
    await pickUp(call);
    const end = new AbortController();
    const talking = keepTalking(end.signal);
    await media.when(() => media.samples(160).some((sample) => Math.abs(sample) > loud));
    await media.press('2');
    await call.expect('BYE');
    end.abort();
    await talking;

    expect(await ended(id)).toMatchObject({
      direction: 'outbound',
      from,
      to,
      call_id: call.invite.header('call-id'),
      outcome: 'completed',
      sip_code: 200,
      hangup_by: 'agent',
      codec: 'PCMU',
      failover_attempts: [],
      media: { verdict: 'two_way' },
    });
    const detail = await system.api.detail(id);
    expect(detail).toMatchObject({
      status: 'completed',
      completed: true,
      inbound: false,
      direction: 'outbound',
      from,
      to,
      call_ended_by: 'ASSISTANT',
      error_message: null,
      sip_call_id: call.invite.header('call-id'),
    });
    expect(detail.transcripts.map(({ user, text }) => [user, text])).toEqual(
      expect.arrayContaining([
        ['assistant', 'Will you come?'],
        ['assistant', 'What a pity.'],
      ]),
    );
    const nodes = detail.pathway_logs.flatMap(({ node_id }) => node_id ?? []);
    expect([...new Set(nodes)]).toEqual(['ask', 'no']);
    const trace = await eventually('the BYE in the trace', async () => {
      const messages = await system.api.trace(id);
      return messages.some(({ start_line }) => start_line.startsWith('BYE ')) ? messages : null;
    });
    expect(trace.map(({ direction, start_line }) => `${direction} ${start_line.split(' sip')[0]}`)).toEqual(
      expect.arrayContaining([
        'sent INVITE',
        'received SIP/2.0 180 Ringing',
        'received SIP/2.0 200 OK',
        'sent ACK',
        'sent BYE',
      ]),
    );
    expect(trace.every(({ transport }) => transport === 'tls')).toBe(true);
  });

  test('to a busy phone is logged as busy', async () => {
    const id = await place('+14155550162');
    const call = await trunk.call();
    call.answer('486 Busy Here');
    await call.expect('ACK');
    expect(await ended(id)).toMatchObject({
      outcome: 'busy',
      sip_code: 486,
      status: '486 Busy Here',
      termination: 'callee_busy',
      answered_at: null,
      duration_seconds: 0,
    });
    expect(await system.api.detail(id)).toMatchObject({ status: 'busy', completed: true });
  });

  test('that is stopped before its answer gets CANCEL', async () => {
    const id = await place('+14155550163');
    const call = await trunk.call();
    call.answer('180 Ringing');
    await eventually('the call to ring', async () => {
      const { status } = await system.api.detail(id);
      return status === 'ringing' || null;
    });
    await system.api.ok('POST', `/v1/calls/${id}/stop`, {});
    await call.expect('CANCEL');
    await call.expect('ACK');
    expect(await ended(id)).toMatchObject({
      outcome: 'canceled',
      termination: 'api_stop',
      hangup_by: 'api',
      answered_at: null,
    });
    expect(await system.api.detail(id)).toMatchObject({ status: 'canceled' });
  });

  test('presses the ordered keys after its answer', async () => {
    const before = media.events.length;
    const id = await place('+14155550164', from, { precall_dtmf_sequence: '1w2#' });
    const call = await trunk.call();
    await pickUp(call);
    await media.when(() => media.events.filter(({ endPackets }) => endPackets > 0).length >= before + 3);
    const pressed = media.events.slice(before).map(({ digit }) => digit);
    expect(pressed).toEqual(['1', '2', '#']);
    expect(await stop(id, call)).toMatchObject({ outcome: 'completed', hangup_by: 'api' });
  });

  test('that the other side ends is logged as such', async () => {
    const id = await place('+14155550165');
    const call = await trunk.call();
    await pickUp(call);
    expect((await call.hangUp()).status).toBe(200);
    expect(await ended(id)).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });
    expect(await system.api.detail(id)).toMatchObject({ status: 'completed', call_ended_by: 'USER' });
  });

  test('to a peer with an untrusted certificate fails, and the log says why', async () => {
    const number = '+14155550143';
    const stranger = await TestTrunk.listen(createSelfSigned(['IP:127.0.0.1']));
    try {
      await attachTrunk(system, number, stranger.port);
      const failed = await ended(await place('+14155550166', number));
      expect(failed).toMatchObject({
        outcome: 'failed',
        sip_code: null,
        termination: 'route_unreachable',
        answered_at: null,
        failover_attempts: [{ host: '127.0.0.1', port: stranger.port, sip_code: null }],
      });
      expect(failed.failover_attempts[0]?.error).toMatch(/certificate/);
      expect(stranger.waiting).toBe(0);
    } finally {
      await stranger.close();
    }
  });

  test('fails over from a dead endpoint to the next, which later calls use at once, until failback', async () => {
    const number = '+14155550141';
    const second = await TestTrunk.listen(pair);
    let first = await TestTrunk.listen(pair);
    try {
      await attachTrunk(system, number, first.port);
      await setFailover(system, number, {
        enabled: true,
        endpoints: [{ host: '127.0.0.1', port: second.port, priority: 1 }],
        failback: 'manual',
      });
      await health(system, number, ({ endpoints }) => endpoints.every(({ status }) => status === 'healthy'));
      await first.close();

      const id = await place('+14155550171', number);
      const call = await second.call();
      await pickUp(call);
      const moved = await stop(id, call);
      expect(moved).toMatchObject({
        outcome: 'completed',
        hangup_by: 'api',
        failover_attempts: [{ host: '127.0.0.1', port: first.port, priority: 0, sip_code: null }],
      });
      expect(moved.failover_attempts[0]?.error).toMatch(/./);

      const nextId = await place('+14155550172', number);
      const next = await second.call();
      await pickUp(next);
      expect(await stop(nextId, next)).toMatchObject({
        outcome: 'completed',
        failover_attempts: [{ port: first.port, error: 'unreachable: failed the last probe or call' }],
      });

      first = await TestTrunk.listen(pair, first.port);
      await setFailover(system, number, { failback_now: true });
      const lastId = await place('+14155550173', number);
      const last = await first.call();
      await pickUp(last);
      expect(await stop(lastId, last)).toMatchObject({ outcome: 'completed', failover_attempts: [] });
      expect(second.waiting).toBe(0);
    } finally {
      await first.close();
      await second.close();
    }
  });

  test('can be prepared by discovery, which finds TLS on the port of the peer', async () => {
    const request = { host: '127.0.0.1', port: trunk.port };
    const { data } = await system.api.read(Discovered, 'POST', '/v1/sip/discover', request);
    const path = `/v1/sip/discover/status?discovery_id=${data.discovery_id}`;
    const found = await eventually('the end of the discovery', async () => {
      const { data: now } = await system.api.read(Discovered, 'GET', path);
      return now.status === 'running' ? null : now;
    });
    expect(found).toMatchObject({
      status: 'completed',
      error: null,
      resolved_addresses: ['127.0.0.1'],
      recommended: { port: trunk.port, transport: 'tls', usable: true, user_agent: 'TestTrunk/1' },
      tls: { version: 'TLSv1.3', trusted: true },
    });
  });
});

describe('a stopping edge', () => {
  const number = '+14155550144';
  let system: TestSystem;
  let trunk: TestTrunk;

  beforeAll(async () => {
    system = await startTrunkSystem({ DRAIN_TIMEOUT_S: '1' });
    trunk = await TestTrunk.listen(await trunkPair(system));
    await attachTrunk(system, number, trunk.port);
  });

  afterAll(() =>
    releaseAll(
      () => system?.stop(),
      () => trunk?.close(),
    ),
  );

  test('cancels the ringing call and the running discovery', async () => {
    const { api } = system;
    const silent = createServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    try {
      const order = { phone_number: '+14155550181', from: number, task: 'Say hello.' };
      const { call_id } = await api.read(CallQueued, 'POST', '/v1/calls', order);
      const call = await trunk.call();
      call.answer('180 Ringing');
      // Last: it gives a silent port up after some seconds.
      const request = { host: '127.0.0.1', port, transport: 'tls' };
      const { data } = await api.read(Discovered, 'POST', '/v1/sip/discover', request);
      expect(data.status).toBe('running');

      expect(await system.edge.end('SIGTERM')).toBe(0);
      await call.expect('CANCEL');
      expect(await api.endedCall(call_id)).toMatchObject({
        outcome: 'canceled',
        termination: 'edge_restarted',
        answered_at: null,
      });
      await system.startEdge();
      const path = `/v1/sip/discover/status?discovery_id=${data.discovery_id}`;
      const after = await api.read(Discovered, 'GET', path);
      expect(after.data).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(/./) } });
    } finally {
      silent.close();
    }
  });
});
