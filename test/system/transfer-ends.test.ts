/** Transfers with unusual starts and ends: by a pathway, of outbound calls, attended, and with a stopping edge. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import type { Phone } from '../../scripts/call/phone.ts';
import type { SipText } from '../../scripts/call/sip-text.ts';
import { hears } from '../kit/fakes/hearing.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk, type TrunkCall } from '../kit/programs/trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';

const number = '+14155550176';
const colleague = '+14155550177';
const silence = Buffer.alloc(160, 0xff);
/** A sample of speech is louder than this; the codec's own noise is not. */
const loud = 1000;

let system: TestSystem;
let trunk: TestTrunk;
let pathway: string;
/** Media of callees of the edge. */
let near: SrtpPeer;
let far: SrtpPeer;
let callers: Caller[] = [];

beforeAll(async () => {
  system = await startTrunkSystem({
    TRUNK_PROBE_INTERVAL_S: '3600',
    DRAIN_TIMEOUT_S: '1',
    METRICS_PUBLIC: 'true',
  });
  trunk = await TestTrunk.listen(await trunkPair(system));
  await attachTrunk(system, number, trunk.port, 'enable_all');
  pathway = await system.api.pathway(
    'desk',
    [
      { id: 'ask', type: 'Default', data: { name: 'Ask', text: 'How can I help?', isStart: true } },
      {
        id: 'hand',
        type: 'Transfer Call',
        data: { name: 'Hand over', text: 'One moment.', transferNumber: colleague },
      },
      { id: 'bye', type: 'End Call', data: { name: 'Bye', text: 'Nobody is there.' } },
    ],
    [
      { id: 'e1', source: 'ask', target: 'hand', data: { label: 'User pressed 1' } },
      { id: 'e2', source: 'hand', target: 'bye', data: { label: 'Transfer failed' } },
    ],
  );
  await system.api.answerWith(number, { pathway_id: pathway });
  await system.api.applied(number);
});

beforeEach(async () => {
  [near, far] = [await SrtpPeer.open(), await SrtpPeer.open()];
});

afterEach(() =>
  releaseAll(
    () => near.close(),
    () => far.close(),
    () => Promise.all(callers.splice(0).map((caller) => caller.close())),
  ),
);

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => trunk?.close(),
  ),
);

async function caller(): Promise<Caller> {
  const made = await callAndTalk(system, number);
  callers = [...callers, made];
  await made.media.play([silence, silence, silence, silence, silence]);
  return made;
}

const idOf = async ({ callId }: Caller) =>
  (await system.api.loggedCall(callId, ({ answered_at }) => answered_at !== null)).id;

const ended = (id: string) => system.api.endedCall(id);

/** The leg to the target of that call's transfer. */
const legOf = (id: string) =>
  eventually(`the leg of ${id}`, async () =>
    (await system.api.calls()).find(({ parent_id }) => parent_id === id),
  );

const transfer = (id: string, more: Record<string, unknown> = {}) =>
  system.api.ok('POST', '/v1/calls/active/transfer', {
    call_id: id,
    transfer_number: colleague,
    ...more,
  });

/** A callee answers the call. */
async function answer(call: TrunkCall, media: SrtpPeer): Promise<void> {
  media.connect(call.invite.body);
  call.answer('200 OK', media.sdp());
  await call.expect('ACK');
}

const note = (id: string, text: string) =>
  eventually(
    `"${text}" in the transcript`,
    async () => (await system.api.detail(id)).transcripts.some((line) => line.text === text) || null,
  );

/** A caller joined with the target of an API transfer. @returns the call's id */
async function bridge(): Promise<{ made: Caller; target: TrunkCall; id: string }> {
  const made = await caller();
  const id = await idOf(made);
  await transfer(id);
  const target = await trunk.call();
  await answer(target, far);
  await note(id, `Transferred the call to ${colleague}.`);
  await hears(far, made.media, 600);
  return { made, target, id };
}

const tagOf = (header: string | undefined) => /;tag=([^;>]+)/.exec(header ?? '')?.[1] ?? '';

test('a key press selects a Transfer Call node, which joins the caller and the target', async () => {
  const made = await caller();
  const id = await idOf(made);
  await made.media.press('1');
  const target = await trunk.call();
  expect(target.invite.startLine).toContain(`sip:${colleague}@`);
  await answer(target, far);
  await note(id, `Transferred the call to ${colleague}.`);
  await hears(far, made.media, 600);
  await hears(made.media, far, 900);
  await made.hangup();
  await target.expect('BYE');
  expect(await ended(id)).toMatchObject({ hangup_by: 'peer', media: { verdict: 'two_way' } });
  const { pathway_logs, ...detail } = await system.api.detail(id);
  expect(detail).toMatchObject({ transferred_to: colleague });
  expect(pathway_logs.map(({ node_id }) => node_id)).toContain('hand');
  await ended((await legOf(id)).id);
});

test('a Transfer Call node with a busy target continues in the pathway', async () => {
  const made = await caller();
  const id = await idOf(made);
  await made.media.press('1');
  const target = await trunk.call();
  target.answer('486 Busy Here');
  await made.phone.expect('BYE');
  expect(await ended(id)).toMatchObject({ hangup_by: 'agent' });
  const { transcripts } = await system.api.detail(id);
  expect(transcripts.map(({ text }) => text)).toContain('Nobody is there.');
});

test('an outbound call is transferred by the API: callee and target hear each other', async () => {
  const order = {
    phone_number: '+14155550178',
    from: number,
    pathway_id: pathway,
    voicemail: { action: 'ignore' },
  };
  const { call_id: id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
  const callee = await trunk.call();
  await answer(callee, near);
  await system.api.loggedCall(id, ({ answered_at }) => answered_at !== null);
  await transfer(id);
  const target = await trunk.call();
  expect(target.invite.startLine).toContain(`sip:${colleague}@`);
  await answer(target, far);
  await note(id, `Transferred the call to ${colleague}.`);
  await hears(far, near, 600);
  await hears(near, far, 900);
  await target.hangUp();
  await callee.expect('BYE');
  expect(await ended(id)).toMatchObject({
    direction: 'outbound',
    hangup_by: 'transfer',
    termination: 'bridge_ended',
    media: { verdict: 'two_way' },
  });
  expect(await ended((await legOf(id)).id)).toMatchObject({ hangup_by: 'peer', to: colleague });
});

test("a peer's attended REFER takes over its dialog with the target, and the agent continues there", async () => {
  const made = await caller();
  const id = await idOf(made);
  // The dialog between the peer and the target, which the REFER names.
  const theirs = 'consultation@pbx.example.com;to-tag=target-7;from-tag=peer 7';
  const refer = await made.phone.request('REFER', null, [
    `Refer-To: <sip:${colleague}@127.0.0.1:${trunk.port};transport=tls?Replaces=${encodeURIComponent(theirs)}>`,
    'Referred-By: <sip:+14155550100@pbx.example.com>',
  ]);
  expect(refer.status).toBe(202);
  const target = await trunk.call();
  expect(target.invite.header('replaces')).toBe(theirs);
  expect(target.invite.header('require')).toContain('replaces');
  expect(target.invite.header('referred-by')).toBe('<sip:+14155550100@pbx.example.com>');
  await answer(target, far);
  const notified = () =>
    made.phone.received.filter(({ method }) => method === 'NOTIFY').map(({ body }) => body.trim());
  await eventually('the NOTIFY of success', () => notified().includes('SIP/2.0 200 OK') || null);
  expect(await ended(id)).toMatchObject({ termination: 'transferred', hangup_by: 'transfer' });
  await far.play([silence, silence, silence, silence, silence]);
  await far.press('1');
  const next = await trunk.call();
  expect(next.invite.startLine).toContain(`sip:${colleague}@`);
  next.answer('486 Busy Here');
  await target.expect('BYE');
  const leg = await legOf(id);
  expect(await ended(leg.id)).toMatchObject({ hangup_by: 'agent' });
});

test('a warm transfer by REFER hands our dialog with the target to the peer', async () => {
  const made = await caller();
  const id = await idOf(made);
  await transfer(id, { method: 'refer', announcement: 'A customer. Press one.', accept_key: '1' });
  const target = await trunk.call();
  await answer(target, far);
  await far.when(() => far.samples(160).some((sample) => Math.abs(sample) > loud));
  await far.play([silence, silence, silence, silence, silence]);
  expect(made.phone.received.some(({ method }) => method === 'REFER')).toBe(false);
  await far.press('1');
  const refer = await made.phone.expect('REFER');
  const referTo = /<([^>]+)>/.exec(refer.header('refer-to') ?? '')?.[1] ?? '';
  const [uri, headers = ''] = referTo.split('?');
  expect(uri).toBe(`sip:trunk@127.0.0.1:${trunk.port};transport=tls`);
  // As the target sees it: its own tag is the to-tag.
  expect(decodeURIComponent(headers)).toBe(
    `Replaces=${target.invite.header('call-id')};to-tag=trunk;from-tag=${tagOf(target.invite.header('from'))}`,
  );
  notify(made.phone, refer, 'SIP/2.0 180 Ringing', 'active');
  notify(made.phone, refer, 'SIP/2.0 200 OK', 'terminated;reason=noresource');
  // The peer's INVITE has replaced our dialog.
  await target.hangUp();
  await made.phone.expect('BYE');
  expect(await ended(id)).toMatchObject({ termination: 'transferred', hangup_by: 'transfer' });
  expect(await system.api.detail(id)).toMatchObject({ transferred_to: colleague });
  expect(await ended((await legOf(id)).id)).toMatchObject({ outcome: 'completed' });
});

/** NOTIFYs of a peer that has accepted a REFER (RFC 3515 section 2.4.4). */
function notify(phone: Phone, refer: SipText, statusLine: string, state: string): void {
  const target = /<([^>]+)>/.exec(refer.header('contact') ?? '')?.[1] ?? '';
  const body = `${statusLine}\r\n`;
  phone.write(
    [
      `NOTIFY ${target} SIP/2.0`,
      `Via: SIP/2.0/TLS 127.0.0.1;branch=z9hG4bK${randomBytes(8).toString('hex')};rport`,
      'Max-Forwards: 70',
      `From: ${refer.header('to')}`,
      `To: ${refer.header('from')}`,
      `Call-ID: ${refer.header('call-id')}`,
      // Higher than the CSeqs of the phone's own requests.
      `CSeq: ${statusLine.includes(' 200 ') ? 101 : 100} NOTIFY`,
      `Contact: ${refer.header('to')?.replace(/;tag=.*/, '') ?? ''}`,
      'Event: refer',
      `Subscription-State: ${state}`,
      'Content-Type: message/sipfrag;version=2.0',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  );
}

test('a stopping edge ends a bridge with BYE to both sides, and closes both records', async () => {
  const { made, target, id } = await bridge();
  const leg = await legOf(id);
  expect(await system.edge.end('SIGTERM')).toBe(0);
  await made.phone.expect('BYE');
  await target.expect('BYE');
  expect(await ended(id)).toMatchObject({ outcome: 'completed', termination: 'edge_restarted' });
  expect(await ended(leg.id)).toMatchObject({ outcome: 'completed', termination: 'edge_restarted' });
  expect(await system.busyRtpPorts()).toEqual([]);
  await system.startEdge();
});

test('an edge killed during a bridge closes both records after its restart', async () => {
  const { id } = await bridge();
  const leg = await legOf(id);
  await system.crashEdge();
  await system.startEdge();
  for (const one of [id, leg.id]) {
    expect(await ended(one)).toMatchObject({ outcome: 'completed', hangup_by: 'error' });
  }
  expect(await system.busyRtpPorts()).toEqual([]);
});

test('after another bridge, the metrics of the edge show no leftovers', async () => {
  const { made, target, id } = await bridge();
  await made.hangup();
  await target.expect('BYE');
  await ended(id);
  // The edge reports every 10 s; reports from before the bridge do not count.
  const metrics = await eventually('the bridge in the metrics', async () => {
    const text = await (await fetch(`${system.api.url}/metrics`)).text();
    return /^trunkline_edge_transfers_total\{[^}]*outcome="ok"[^}]*\} 1$/m.test(text) ? text : null;
  });
  for (const name of ['calls', 'dialogs', 'media_legs', 'rtp_ports_in_use', 'draining']) {
    expect(metrics).toMatch(new RegExp(`^trunkline_edge_${name}\\{[^}]*\\} 0$`, 'm'));
  }
  expect(await system.busyRtpPorts()).toEqual([]);
});
