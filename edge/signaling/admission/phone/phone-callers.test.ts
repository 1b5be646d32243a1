/** Browsers that call over WSS with the credentials of a phone session. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type PhoneClaims, phonePassword, phoneUsername } from '#shared/phone-session.ts';
import type { RefusalReason } from '#shared/refusals.ts';
import { config, invite, signalingScene } from '../../../../test/kit/edge/fake-engine-signaling.ts';
import type { DrachtioServer } from '../../../../test/kit/fakes/drachtio-server.ts';
import { echoAgent } from '../../../../test/kit/fakes/fake-agents.ts';
import type { CallLeg } from '../../../call/ports/signaling.ts';
import { authorization, parseChallenges } from '../../srf/digest.ts';

const scene = signalingScene();
const number = '+14155550100';
const others = '+14155550109';
const key = Buffer.alloc(32, 7).toString('base64');
const start = Date.UTC(2030, 0, 1);
const claims: PhoneClaims = {
  id: '7f0d6f1e-0000-4000-8000-000000000001',
  org_id: 'org-1',
  edge_id: 'edge-1',
  number,
  caller: 'Ada of the help page',
  issued_at: start,
  expires_at: start + 300_000,
  calls: 1,
  generation: 3,
};

beforeEach(() => {
  const [first] = config.numbers;
  const foreign = first ? [{ ...first, number: others, org_id: 'org-2' }] : [];
  scene.signaling.configure({ ...config, numbers: [...config.numbers, ...foreign] });
  scene.phones.set('org-1', { keys: [{ generation: 3, key }], revoked: [] });
});

type Message = Partial<Parameters<DrachtioServer['peer']>[0]>;
let sent = 0;

/** An INVITE over WSS, and the answer. */
async function call(message: Message = {}) {
  scene.server.peer({
    ...invite,
    address: '203.0.113.5',
    protocol: 'wss',
    callId: `phone-${++sent}`,
    ...message,
  });
  return scene.server.next();
}

interface Way {
  readonly password?: string;
  readonly username?: string;
}

function credentials(header: string | undefined, changes: Partial<PhoneClaims>, way: Way = {}) {
  const [challenge] = parseChallenges(header ?? '');
  if (!challenge) throw new Error(`no challenge: ${header}`);
  const username = way.username ?? phoneUsername({ ...claims, ...changes });
  return {
    Authorization: authorization(challenge, {
      username,
      password: way.password ?? phonePassword(key, username),
      method: 'INVITE',
      uri: `sip:${number}@127.0.0.1`,
      body: '',
      nonceCount: 1,
      cnonce: 'c0ffee',
    }),
  };
}

/** An INVITE of a session that answers its challenge. */
async function callWith(changes: Partial<PhoneClaims> = {}, message: Message = {}, way: Way = {}) {
  const challenged = await call(message);
  expect(challenged.startLine).toBe('SIP/2.0 401 Unauthorized');
  return call({ ...message, headers: credentials(challenged.headers['www-authenticate'], changes, way) });
}

/** The entries that have been reported, when the minute is over. */
function reported() {
  scene.clock.advance(62_000);
  return scene.reported.map(({ org_id, number, reason }) => [org_id, number, reason]);
}

describe('a browser', () => {
  it('calls the number of its session, after one challenge in one line, which sip.js needs', async () => {
    const challenges = parseChallenges((await call()).headers['www-authenticate'] ?? '');
    expect(challenges).toMatchObject([{ realm: 'trunkline', algorithm: 'MD5', qop: ['auth'], stale: false }]);
    const answer = await callWith();
    expect(answer.startLine).toBe('SIP/2.0 200 OK');
    expect(scene.last()).toMatchObject({
      number,
      from: 'Ada of the help page',
      trunk_id: null,
      source_ip: '203.0.113.5',
      variables: { phone_session_id: claims.id },
    });
    // The engine writes it, with the address of WSS.
    expect(answer.headers.contact).toBeUndefined();
    // Each call begins with a question, which is no refusal.
    expect(reported()).toEqual([]);
  });

  it('belongs to the number of its session, whatever it dials, and may replace no call', async () => {
    const legs: CallLeg[] = [];
    const admit = scene.calls.admit.bind(scene.calls);
    scene.calls.admit = (leg, ...how) => {
      legs.push(leg);
      return admit(leg, ...how);
    };
    await callWith({ to: others });
    expect(legs).toMatchObject([
      { facts: { to: others }, account: { number, peerAddress: null, trunkId: null } },
    ]);
  });

  it('makes as many calls as its session has, also with one nonce', async () => {
    for (const expected of ['200 OK', '200 OK', '403 The phone session has made all of its calls']) {
      const answer = await callWith({ calls: 2 });
      expect(answer.startLine).toBe(`SIP/2.0 ${expected}`);
    }
    expect(reported()).toEqual([['org-1', number, 'phone_session_used_up']]);
  });

  it('uses up no call that the edge rejects because it takes none', async () => {
    scene.calls.setOutOfService(true);
    expect((await callWith()).startLine).toBe('SIP/2.0 503 Service Unavailable');
    scene.calls.setOutOfService(false);
    expect((await callWith()).startLine).toBe('SIP/2.0 200 OK');
  });

  it('gets a new nonce when it repeats an INVITE', async () => {
    const challenged = await call();
    const headers = credentials(challenged.headers['www-authenticate'], { calls: 5 });
    expect((await call({ headers })).startLine).toBe('SIP/2.0 200 OK');
    const again = await call({ headers });
    expect(again.startLine).toBe('SIP/2.0 401 Unauthorized');
    expect(parseChallenges(again.headers['www-authenticate'] ?? '')[0]?.stale).toBe(true);
  });

  it.each<[string, RefusalReason, Partial<PhoneClaims>, string | undefined]>([
    ['has expired', 'phone_session_expired', { expires_at: start }, undefined],
    ['was revoked', 'phone_session_revoked', { id: 'revoked' }, undefined],
    ['is for another edge', 'phone_session_elsewhere', { edge_id: 'edge-2' }, undefined],
    ['is older than the edge', 'phone_session_elsewhere', { issued_at: start - 1 }, undefined],
    ['is for another number', 'phone_session_other_number', {}, '+14155550101'],
    ['is for another number than a foreign one', 'phone_session_other_number', {}, others],
    ['is for a number that is foreign by now', 'phone_session_other_number', { number: others }, others],
  ])(
    'is rejected when its session %s, and its organization sees why',
    async (_, reason, changes, dialled) => {
      scene.phones.set('org-1', { keys: [{ generation: 3, key }], revoked: ['revoked'] });
      const uri = dialled && { uri: `sip:${dialled}@127.0.0.1` };
      const answer = await callWith(changes, uri || {});
      expect(answer.startLine).toMatch(/^SIP\/2\.0 403 /);
      expect(scene.records).toEqual([]);
      const [org, , why] = reported()[0] ?? [];
      expect([org, why]).toEqual([changes.number ? null : 'org-1', reason]);
    },
  );

  it.each<[string, Way, Partial<PhoneClaims>]>([
    ['a wrong password', { password: 'guessed' }, {}],
    ['a user name that is none of a session', { username: 'acme' }, {}],
    ['claims that are none', { username: 'phone.e30' }, {}],
    ['changed claims', { password: phonePassword(key, phoneUsername(claims)) }, { calls: 100 }],
    ['a former key', {}, { generation: 2 }],
    ['the claims of another organization', {}, { org_id: 'org-2' }],
  ])('is rejected with %s, without a reason', async (_, way, changes) => {
    const answer = await callWith(changes, {}, way);
    expect(answer.startLine).toBe('SIP/2.0 403 Forbidden');
    expect(reported()).toContainEqual(['org-1', number, 'phone_session_wrong']);
  });

  it('may use the key before the current one only for sessions that were made with it', async () => {
    const until = start + 60_000;
    scene.phones.set('org-1', { keys: [{ generation: 3, key, until }], revoked: [] });
    expect((await callWith({ expires_at: until })).startLine).toBe('SIP/2.0 200 OK');
    expect((await callWith({ id: 'later', expires_at: until + 1 })).startLine).toBe('SIP/2.0 403 Forbidden');
  });

  it('without credentials is asked for them, whatever it calls, and reported when it has none', async () => {
    for (const uri of [`sip:${number}@127.0.0.1`, 'sip:+19995550100@127.0.0.1']) {
      expect((await call({ uri })).startLine).toBe('SIP/2.0 401 Unauthorized');
    }
    expect(reported()).toContainEqual(['org-1', number, 'phone_session_missing']);
  });

  it('is not admitted by its address', async () => {
    const answer = await call({ address: '192.0.2.1' });
    expect(answer.startLine).toBe('SIP/2.0 401 Unauthorized');
  });

  it('may not replace a call', async () => {
    const challenged = await call();
    const headers = {
      ...credentials(challenged.headers['www-authenticate'], {}),
      Replaces: 'a;to-tag=b;from-tag=c',
    };
    expect((await call({ headers })).startLine).toBe('SIP/2.0 403 Forbidden');
  });

  it('is silenced after too many wrong attempts; one that has authenticated is not for being asked', async () => {
    await callWith({ calls: 9 });
    for (let count = 0; count < 20; count++) expect((await call()).startLine).toMatch(/ 401 /);
    for (let count = 0; count < 3; count++) await callWith({}, {}, { password: 'guessed' });
    expect((await callWith({ calls: 9 })).startLine).toBe('SIP/2.0 200 OK');
    expect(scene.refused).toContain('blocked');
  });
});

describe('a session that calls out', () => {
  const to = '+14155550177';

  it('calls its party over a trunk of the number, which needs no agent', async () => {
    const numbers = config.numbers.map((one) => ({ ...one, agent: null }));
    scene.signaling.configure({ ...config, numbers });
    const answer = await callWith({ to });
    // There is no trunk here: the caller gets what became of the leg.
    expect(answer.startLine).toBe('SIP/2.0 480 Temporarily Unavailable');
    expect(scene.last()).toMatchObject({ to, termination: 'dial_failed', from: 'Ada of the help page' });
  });
});

describe('a session for an agent', () => {
  const agent = { agent: true, number: 'agent' } as const;
  const uri = 'sip:agent@127.0.0.1';
  const known = {
    session_id: claims.id,
    org_id: 'org-1',
    name: 'Booking, version 7',
    agent: echoAgent,
    expires_at: claims.expires_at,
  };

  it('calls the agent that control has told', async () => {
    scene.phoneAgents.set(claims.id, known);
    expect((await callWith(agent, { uri })).startLine).toBe('SIP/2.0 200 OK');
    expect(scene.last()).toMatchObject({ org_id: 'org-1', to: known.name, trunk_id: null });
  });

  it('calls nothing else', async () => {
    scene.phoneAgents.set(claims.id, known);
    const answer = await callWith(agent);
    expect(answer.startLine).toBe('SIP/2.0 403 The phone session is for another number');
  });

  it('is refused by an edge that does not know the agent, as after its restart', async () => {
    expect((await callWith(agent, { uri })).startLine).toMatch(
      /^SIP\/2\.0 403 The phone session is for another edge/,
    );
  });
});

describe('a session of a supervisor', () => {
  const uri = 'sip:supervise@127.0.0.1';
  const of = (supervise: string) => ({ number: 'supervise', supervise, tone: true }) as const;

  it('joins no call that is not up, and its organization sees why', async () => {
    const answer = await callWith(of('01234567-89ab-7def-8123-000000000001'), { uri });
    expect(answer.startLine).toBe('SIP/2.0 403 The call to supervise is not up');
    expect(reported()).toEqual([['org-1', 'supervise', 'phone_session_no_call']]);
  });
});

it('credentials of a session admit nobody over TLS', async () => {
  const challenged = await call();
  const headers = credentials(challenged.headers['www-authenticate'], {});
  const answer = await call({ protocol: 'tls', headers });
  expect(answer.startLine).toBe('SIP/2.0 403 Forbidden');
});
