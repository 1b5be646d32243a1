/** Calls taken over (RFC 3891) by callers that authenticate by user name and password, from any address. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { config, invite, signalingScene, trunk } from '../../../test/kit/edge/fake-engine-signaling.ts';
import { authorization, parseChallenges } from '../srf/digest.ts';

const scene = signalingScene();
const address = '203.0.113.5';
const elsewhere = '203.0.113.6';
/** Our Contact, to which a Refer-To leads. */
const uri = 'sip:edge.example:5061;transport=tls';
const digest = { username: 'acme', password: 'a long password', nonce_key: 'a2V5' };
const pbx: InboundTrunk = { ...trunk, id: 'pbx', allowed_ips: ['::'], digest };
const second = { ...pbx, id: 'second', digest: { ...digest, username: 'second' } };
const others = { ...pbx, id: 'others', digest: { ...digest, username: 'others' } };
const inboundOf: Record<string, InboundTrunk[]> = {
  '+14155550100': [trunk, pbx],
  '+14155550101': [second],
};

beforeEach(() => {
  const numbers = config.numbers.map((one) => ({ ...one, inbound: inboundOf[one.number] ?? [] }));
  const [first] = numbers;
  if (!first) throw new Error('no number');
  const foreign = { ...first, number: '+14155550109', org_id: 'org-2', inbound: [others] };
  scene.signaling.configure({ ...config, numbers: [...numbers, foreign] });
});

let sent = 0;

/** An INVITE of a stranger to our Contact that replaces a call, and the answer. */
async function takeOver(replaces: string, headers: Record<string, string> = {}, from = elsewhere) {
  const callId = `taker-${++sent}`;
  const all = { ...headers, Replaces: replaces, Require: 'replaces' };
  scene.server.peer({ ...invite, address: from, uri, callId, headers: all });
  return { callId, ...(await scene.server.next()) };
}

function credentials(challenge: string | undefined, way: Partial<typeof digest> = {}) {
  const [first] = parseChallenges(challenge ?? '').filter(({ algorithm }) => algorithm === 'SHA-256');
  if (!first) throw new Error(`no challenge: ${challenge}`);
  const request = { ...digest, ...way, method: 'INVITE', uri, body: '', nonceCount: 1, cnonce: 'c0ffee' };
  return { Authorization: authorization(first, request) };
}

/** A call of the number, from its listed address or from that of a caller with credentials. */
async function callUp(from = '192.0.2.1'): Promise<string> {
  const callId = 'held';
  const number = 'sip:+14155550100@127.0.0.1:5061';
  const message = { ...invite, address: from, uri: number, callId };
  scene.server.peer(message);
  let answer = await scene.server.next();
  if (answer.startLine === 'SIP/2.0 401 Unauthorized') {
    scene.server.peer({ ...message, headers: credentials(answer.headers['www-authenticate']) });
    answer = await scene.server.next();
  }
  expect(answer.startLine).toBe('SIP/2.0 200 OK');
  scene.server.peer({ method: 'ACK', address: from, callId, toTag: 'server-tag' });
  await scene.server.idle();
  return `${callId};to-tag=server-tag;from-tag=peer-tag`;
}

describe('a caller that takes a call over from an address that is not listed', () => {
  it.each([
    ['a listed address', '192.0.2.1'],
    ['another caller with credentials', address],
  ])('of %s is challenged, and may with the credentials of its number', async (_whose, from) => {
    const replaces = await callUp(from);
    const challenge = await takeOver(replaces);
    expect(challenge.startLine).toBe('SIP/2.0 401 Unauthorized');
    const ok = await takeOver(replaces, credentials(challenge.headers['www-authenticate']));
    expect(ok.startLine).toBe('SIP/2.0 200 OK');
    scene.server.peer({ method: 'ACK', address: elsewhere, callId: ok.callId, toTag: 'server-tag' });
    expect(await scene.server.next()).toMatchObject({ startLine: expect.stringMatching(/^BYE /) });
    expect(scene.calls.size).toBe(1);
    expect(scene.calls.find('id-1')?.dialog.peerIp).toBe(elsewhere);
  });

  it.each([
    ['a wrong password', { password: 'a wrong password' }],
    ['the credentials of another number', { username: 'second' }],
    ['the credentials of another organization', { username: 'others' }],
  ])('with %s is rejected, and the call goes on', async (_what, way) => {
    const replaces = await callUp();
    const challenge = await takeOver(replaces);
    const answer = await takeOver(replaces, credentials(challenge.headers['www-authenticate'], way));
    expect(answer.startLine).toBe('SIP/2.0 403 Forbidden');
    expect(scene.calls.find('id-1')).toMatchObject({ state: 'up' });
    expect(scene.calls.find('id-1')?.dialog.peerIp).toBe('192.0.2.1');
  });

  it('which has just ended gets 481 where it has authenticated lately, however often', async () => {
    const replaces = await callUp(address);
    // Some callers send what they have of an earlier challenge.
    const { headers } = await takeOver(replaces);
    const earlier = credentials(headers['www-authenticate']);
    scene.server.peer({ method: 'BYE', address, callId: 'held', toTag: 'server-tag', cseq: 2 });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    for (let again = 0; again < 10; again++) {
      const answer = await takeOver(replaces, again % 2 === 0 ? {} : earlier, address);
      expect(answer.startLine).toMatch(/^SIP\/2.0 481 /);
      expect(answer.headers['x-trunkline-block']).toBeUndefined();
    }
    expect((await takeOver(replaces)).startLine).toBe('SIP/2.0 401 Unauthorized');
  });
});
