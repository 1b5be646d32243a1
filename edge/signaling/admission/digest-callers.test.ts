/** Callers that authenticate by user name and password, from any address. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { config, invite, signalingScene, trunk } from '../../../test/kit/edge/fake-engine-signaling.ts';
import type { DrachtioServer } from '../../../test/kit/fakes/drachtio-server.ts';
import { authorization, parseChallenges } from '../srf/digest.ts';

const scene = signalingScene();
const address = '203.0.113.5';
const elsewhere = '203.0.113.6';
const number = '+14155550100';
const uri = `sip:${number}@127.0.0.1:5061`;
const digest = { username: 'acme', password: 'a long password', nonce_key: 'a2V5' };
const pbx: InboundTrunk = { ...trunk, id: 'pbx', allowed_ips: ['::'], digest };
/** Another organization's. */
const others: InboundTrunk = { ...pbx, id: 'others', digest: { ...digest, password: 'another password' } };
const withDigest = {
  ...config,
  numbers: config.numbers.flatMap((one) => [
    { ...one, inbound: one.number === number ? [trunk, pbx] : one.inbound },
    ...(one.number === number
      ? [{ ...one, number: '+14155550109', org_id: 'org-2', inbound: [others] }]
      : []),
  ]),
};

beforeEach(() => scene.signaling.configure(withDigest));

type Message = Partial<Parameters<DrachtioServer['peer']>[0]>;
let sent = 0;

/** An INVITE of a stranger, and the answer. */
async function call(message: Message = {}) {
  scene.server.peer({ ...invite, address, callId: `call-${++sent}`, ...message });
  return scene.server.next();
}

interface Way {
  readonly algorithm?: string;
  readonly username?: string;
  readonly password?: string;
  readonly nonceCount?: number;
  readonly uri?: string;
}

function credentials(value: string | undefined, way: Way = {}): Record<string, string> {
  const challenge = parseChallenges(value ?? '').find(
    ({ algorithm }) => algorithm === (way.algorithm ?? 'SHA-256'),
  );
  if (!challenge) throw new Error(`no challenge of this algorithm: ${value}`);
  const request = { ...digest, method: 'INVITE', uri, body: '', nonceCount: 1, cnonce: 'c0ffee', ...way };
  return { Authorization: authorization(challenge, request) };
}

const challenged = async (message: Message = {}) => (await call(message)).headers['www-authenticate'];

describe('a caller without a listed address', () => {
  it('is challenged, and admitted with the credentials of the number', async () => {
    const first = await call();
    expect(first.startLine).toBe('SIP/2.0 401 Unauthorized');
    expect(parseChallenges(first.headers['www-authenticate'] ?? '')).toMatchObject([
      { realm: 'trunkline', algorithm: 'MD5', qop: ['auth'], stale: false },
      { realm: 'trunkline', algorithm: 'SHA-256', qop: ['auth'], stale: false },
    ]);
    expect(scene.records).toEqual([]);
    const second = await call({ headers: credentials(first.headers['www-authenticate']) });
    expect(second.startLine).toBe('SIP/2.0 200 OK');
    expect(scene.last()).toMatchObject({ trunk_id: 'pbx', source_ip: address });
    expect(scene.refused).toEqual(['challenged']);
  });

  it('may use MD5, and a nonce several times with a growing count', async () => {
    const challenge = await challenged();
    for (const nonceCount of [2, 1, 3]) {
      const answer = await call({ headers: credentials(challenge, { algorithm: 'MD5', nonceCount }) });
      expect(answer.startLine).toBe('SIP/2.0 200 OK');
    }
  });

  it('gets a new nonce at once when it uses a count again or an old nonce, and is not counted for it', async () => {
    const challenge = await challenged();
    await call({ headers: credentials(challenge) });
    for (let again = 0; again < 5; again++) {
      const answer = await call({ headers: credentials(challenge) });
      expect(answer.startLine).toBe('SIP/2.0 401 Unauthorized');
      expect(parseChallenges(answer.headers['www-authenticate'] ?? '')[0]?.stale).toBe(true);
    }
    scene.clock.advance(300_000);
    const answer = await call({ headers: credentials(challenge, { nonceCount: 2 }) });
    const [renewed] = parseChallenges(answer.headers['www-authenticate'] ?? '');
    expect(renewed?.stale).toBe(true);
    const last = await call({ headers: credentials(answer.headers['www-authenticate']) });
    expect(last.startLine).toBe('SIP/2.0 200 OK');
  });

  it('is not called stale with a wrong password and an old nonce', async () => {
    const challenge = await challenged();
    scene.clock.advance(300_000);
    const answer = await call({ headers: credentials(challenge, { password: 'a wrong password' }) });
    expect(answer.startLine).toBe('SIP/2.0 403 Forbidden');
  });

  it.each<[string, Way]>([
    ['password', { password: 'a wrong password' }],
    ['user', { username: 'acmf' }],
    ["organization's password", { password: others.digest?.password ?? '' }],
  ])('is rejected with a wrong %s; the record says why, and nothing has the secrets', async (_what, way) => {
    const header = credentials(await challenged(), way);
    const answer = await call({ headers: header });
    expect([answer.startLine, answer.headers['www-authenticate']]).toEqual([
      'SIP/2.0 403 Forbidden',
      undefined,
    ]);
    expect(scene.last()).toMatchObject({ termination: 'source_not_allowed', sip_code: 403 });
    const shown = JSON.stringify([scene.records, scene.log.lines]);
    expect(shown).toContain('User name or password of the call are wrong.');
    for (const secret of [
      digest.password,
      way.password,
      /response="([^"]*)/.exec(header.Authorization ?? '')?.[1],
    ])
      if (secret !== undefined) expect(shown).not.toContain(secret);
  });

  it('gets 400 for credentials without what the challenge asks for', async () => {
    const header = credentials(await challenged());
    const answer = await call({
      headers: { Authorization: (header.Authorization ?? '').replace('qop=auth', 'qop=x') },
    });
    expect(answer.startLine).toBe('SIP/2.0 400 Malformed Authorization');
  });

  it('cannot tell numbers that exist from others', async () => {
    const unknown = { uri: 'sip:+14155559999@x' };
    const without = { uri: 'sip:+14155550101@x' };
    const foreign = { uri: 'sip:+14155550109@x' };
    for (const message of [{}, unknown, without, foreign])
      expect((await call(message)).startLine).toBe('SIP/2.0 401 Unauthorized');
    // Its own credentials open its own number alone.
    for (const message of [unknown, without, foreign]) {
      const answer = await call({ ...message, headers: credentials(await challenged()) });
      expect(answer.startLine).toBe('SIP/2.0 403 Forbidden');
      scene.clock.advance(600_000);
    }
  });

  it('is not challenged when its address is listed, or when no number has credentials', async () => {
    expect((await call({ address: '192.0.2.1' })).startLine).toBe('SIP/2.0 200 OK');
    scene.signaling.configure(config);
    expect((await call()).startLine).toBe('SIP/2.0 403 Forbidden');
  });
});

it('a number with credentials alone is not open to all, also where numbers that list nothing are', async () => {
  const open = { ...withDigest, open_inbound: true };
  const guarded = open.numbers.map((one) => ({
    ...one,
    inbound: one.inbound.filter(({ digest }) => digest),
  }));
  scene.signaling.configure({ ...open, numbers: guarded });
  expect((await call()).startLine).toBe('SIP/2.0 401 Unauthorized');
  // An edge of an earlier version sees the same without the credentials.
  const earlier = guarded.map((one) => ({
    ...one,
    inbound: one.inbound.map(({ digest: _, ...rest }) => rest),
  }));
  scene.signaling.configure({ ...open, numbers: earlier });
  expect((await call()).startLine).toBe('SIP/2.0 403 Forbidden');
});

describe('a request that belongs to a call', () => {
  it('is not challenged: ACK, re-INVITE and BYE', async () => {
    const headers = credentials(await challenged());
    scene.server.peer({ ...invite, address, callId: 'up', headers });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    scene.server.peer({ method: 'ACK', address, callId: 'up', toTag: 't' });
    scene.server.peer({ ...invite, address, callId: 'up', toTag: 't', cseq: 2 });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    scene.server.peer({ method: 'ACK', address, callId: 'up', toTag: 't', cseq: 2 });
    scene.server.peer({ method: 'BYE', address, callId: 'up', toTag: 't', cseq: 3 });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
  });

  it('is challenged when it replaces a call', async () => {
    const replaces = { Replaces: 'none@peer;to-tag=a;from-tag=b' };
    expect((await call({ headers: replaces })).startLine).toBe('SIP/2.0 401 Unauthorized');
  });
});

describe('the limits of strangers', () => {
  // The scene blocks at 3.
  it('count a caller without credentials as a quarter of an attempt, until it has authenticated', async () => {
    for (let begun = 0; begun < 11; begun++)
      expect((await call()).headers['x-trunkline-block']).toBeUndefined();
    expect((await call()).headers['x-trunkline-block']).toBe('600');
    scene.server.peer({ ...invite, address, callId: 'silent' });
    await scene.server.idle();
    expect(scene.refused.at(-1)).toBe('silenced');
    const challenge = await challenged({ address: elsewhere });
    await call({ address: elsewhere, headers: credentials(challenge) });
    for (let begun = 0; begun < 30; begun++) {
      const answer = await call({ address: elsewhere });
      expect([answer.startLine, answer.headers['x-trunkline-block']]).toEqual([
        'SIP/2.0 401 Unauthorized',
        undefined,
      ]);
    }
  });

  it('block wrong credentials, but not the calls of a caller who has authenticated from there', async () => {
    const first = await challenged();
    await call({ headers: credentials(first) });
    for (let guess = 0; guess < 3; guess++) {
      const answer = await call({ headers: credentials(first, { username: `user${guess}` }) });
      // The engine would refuse the connections of the address.
      expect(answer.headers['x-trunkline-block']).toBeUndefined();
    }
    scene.server.peer({
      ...invite,
      address,
      callId: 'guess',
      headers: credentials(first, { username: 'x' }),
    });
    await scene.server.idle();
    expect(scene.refused.at(-1)).toBe('silenced');
    const answer = await call({ headers: credentials(await challenged()) });
    expect(answer.startLine).toBe('SIP/2.0 200 OK');
  });

  it('also hold for guesses from an address that some configuration names', async () => {
    const known = '192.0.2.7';
    const target = { address: known, uri: 'sip:+14155550109@x' };
    const challenge = await challenged(target);
    const right = { password: others.digest?.password ?? '' };
    for (let guess = 0; guess < 3; guess++) {
      const headers = credentials(challenge, { password: `wrong password ${guess}` });
      expect((await call({ ...target, headers })).startLine).toBe('SIP/2.0 404 Not Found');
    }
    // No longer tried, so nobody learns that it is right.
    expect((await call({ ...target, headers: credentials(challenge, right) })).startLine).toBe(
      'SIP/2.0 404 Not Found',
    );
    const elsewhereRight = credentials(await challenged({ ...target, address: elsewhere }), right);
    const answer = await call({ ...target, address: elsewhere, headers: elsewhereRight });
    expect(answer.startLine).toBe('SIP/2.0 200 OK');
  });
});
