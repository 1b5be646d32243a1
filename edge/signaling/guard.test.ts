/**
 * What sources that may not call a number receive, learn and leave in the log: each tenant is protected
 * separately.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { InboundTrunk, NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { DrachtioServer } from '../../test/kit/fakes/drachtio-server.ts';
import { echoAgent, FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { sdpOffer } from '../../test/kit/fakes/fake-leg.ts';
import { FakeMedia } from '../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { Calls } from '../call/calls.ts';
import { Signaling } from './signaling.ts';

const tries = 5;
const acme = '+14155550100';
const bolt = '+14155550200';
const nobodys = '+14155559999';
const acmesPbx = '192.0.2.1';
const carrier = '198.51.100.7';
const stranger = '203.0.113.5';

const trunk = (id: string, allowed_ips: string[]): InboundTrunk => ({
  id,
  auth_mode: 'ip',
  allowed_ips,
  source_host: null,
  headers: [],
  codecs: ['PCMU'],
});

const number = (name: string, org_id: string, allowed_ips: string[]): NumberConfig => ({
  number: name,
  org_id,
  inbound: [trunk(`trunk of ${org_id}`, allowed_ips)],
  outbound: [],
  agent: { ...echoAgent, max_duration: 720 },
});

let server: DrachtioServer;
let clock: FakeClock;
let log: QuietLog;
let signaling: Signaling;
let records: CallRecord[];
let refused: string[];
let version: number;

beforeEach(async () => {
  server = await DrachtioServer.listen();
  clock = new FakeClock(Date.UTC(2030, 0, 1));
  log = new QuietLog();
  // For this test alone: calls of the previous test end while it closes.
  const ownRecords: CallRecord[] = [];
  const ownRefused: string[] = [];
  records = ownRecords;
  refused = ownRefused;
  version = 0;
  let id = 0;
  const calls = new Calls({
    clock,
    media: new FakeMedia(),
    agents: new FakeAgents(),
    log,
    newId: () => `id-${++id}`,
    maxCalls: 10,
    organizations: () => 2,
    settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 0 },
    reporter: { report: (body) => void (body.type === 'call' && ownRecords.push(body.call)) },
  });
  const up = Promise.withResolvers<boolean>();
  signaling = new Signaling({
    clock,
    log,
    calls,
    publicAddress: 'edge.example:5061',
    software: 'Trunkline/test',
    session: { expiresS: 1800, minS: 90 },
    strangers: { tries, windowS: 60, blockS: 600, maxSources: 100 },
    refused: (reason) => ownRefused.push(reason),
    engineUp: up.resolve,
  });
  configure([acmesPbx], [carrier]);
  signaling.connect({ host: '127.0.0.1', port: server.port, secret: 'cymru' });
  await up.promise;
});

afterEach(() =>
  releaseAll(
    () => signaling.close(),
    () => server.close(),
  ),
);

function configure(ofAcme: string[], ofBolt: string[], open_inbound = false): void {
  signaling.configure({
    version: ++version,
    organizations: [],
    numbers: [number(acme, 'acme', ofAcme), number(bolt, 'bolt', ofBolt)],
    pathways: [],
    allowed_private_targets: [],
    open_inbound,
  });
}

let callIds = 0;

/** The response to an INVITE, as a stranger sees it; `silence` for none. */
async function call(address: string, dialled: string, headers: Record<string, string> = {}): Promise<string> {
  const before = server.sent.length;
  const callId = `call-${++callIds}`;
  server.peer({ method: 'INVITE', body: sdpOffer, callId, address, uri: `sip:${dialled}@x`, headers });
  await server.idle();
  if (server.sent.length === before) return 'silence';
  const answer = await server.next();
  const named = Object.entries(answer.headers).filter(([name]) => !['to', 'call-id', 'cseq'].includes(name));
  return `${answer.startLine} ${JSON.stringify(Object.fromEntries(named.sort()))}`;
}

async function times(count: number, address: string, dialled: string): Promise<string[]> {
  const answers: string[] = [];
  for (let i = 0; i < count; i++) answers.push(await call(address, dialled));
  return answers;
}

/** Calls whose responses nobody looks at; a hundred at a time, because to wait for each takes most of the time. */
async function flood(count: number, addressOf: (index: number) => string, dialled: string): Promise<void> {
  const before = server.sent.length;
  for (let i = 0; i < count; i++) {
    const callId = `call-${++callIds}`;
    server.peer({
      method: 'INVITE',
      body: sdpOffer,
      callId,
      address: addressOf(i),
      uri: `sip:${dialled}@x`,
    });
    if (i % 100 === 99) await server.idle();
  }
  await server.idle();
  for (let seen = before; seen < server.sent.length; seen++) await server.next();
}

const statusOf = (answer: string) => answer.split(' ')[1] ?? answer;
const ofOrganization = (org: string) => records.filter(({ org_id }) => org_id === org);

describe('the answer to a source that may not call a number', () => {
  it.each([
    ['a stranger', stranger, '403'],
    ["another tenant's PBX", acmesPbx, '404'],
  ])(
    'is for %s the same whether or not the number exists, however often it tries',
    async (_who, address, status) => {
      const toBolt = await times(tries + 3, address, bolt);
      clock.advance(3_600_000);
      const toNobody = await times(tries + 3, address, nobodys);
      expect(toNobody).toEqual(toBolt);
      expect(statusOf(toBolt[0] ?? '')).toBe(status);
    },
  );

  it.each([
    ['an unknown test key', { 'X-Trunkline-Test': 'k' }],
    ['Replaces', { Replaces: 'a@b;to-tag=1;from-tag=2' }],
    ['an unknown extension', { Require: 'warp' }],
    ['a short session', { Supported: 'timer', 'Session-Expires': '60' }],
  ])('is the same with %s', async (_what, headers) => {
    for (const address of [stranger, acmesPbx]) {
      expect(await call(address, nobodys, headers)).toBe(await call(address, bolt, headers));
    }
  });

  it("is 403 for a tenant's own source that another of its numbers lists", async () => {
    signaling.configure({
      version: ++version,
      organizations: [],
      numbers: [number(acme, 'acme', [acmesPbx]), number(bolt, 'acme', ['192.0.2.9'])],
      pathways: [],
      allowed_private_targets: [],
      open_inbound: false,
    });
    expect(statusOf(await call(acmesPbx, bolt))).toBe('403');
    expect(statusOf(await call(acmesPbx, nobodys))).toBe('404');
  });
});

describe('malformed or unsupported requests from a stranger', () => {
  const flawed: [string, Record<string, string>, string][] = [
    ['a short session', { Supported: 'timer', 'Session-Expires': '60' }, '422'],
    ['an encoded body', { 'Content-Encoding': 'gzip' }, '415'],
    ['a body that is no SDP', { 'Content-Type': 'text/plain' }, '415'],
    ['a Contact that is not a SIP URI', { Contact: '<tel:+1>' }, '400'],
    ['an unknown extension', { Require: 'warp' }, '420'],
    ['a malformed Replaces', { Replaces: ';;' }, '400'],
  ];
  const silentAfter = (status: string) => [...Array<string>(tries).fill(status), 'silence', 'silence'];

  async function statuses(
    address: string,
    dialled: string,
    headers: Record<string, string>,
    count = tries + 2,
  ) {
    const answers: string[] = [];
    for (let i = 0; i < count; i++) answers.push(statusOf(await call(address, dialled, headers)));
    return answers;
  }

  it.each(flawed)('count as attempts: %s', async (_what, headers, status) => {
    for (const dialled of [bolt, nobodys]) {
      expect(await statuses(stranger, dialled, headers)).toEqual(silentAfter(status));
      clock.advance(3_600_000);
    }
  });

  it.each(flawed.slice(0, -1))(
    'do not count when the source may call the number: %s',
    async (_what, headers, status) => {
      // The fake server's own round trips come from the PBX.
      configure(['0.0.0.0/0'], [carrier, acmesPbx]);
      expect(await statuses(stranger, acme, headers, 20)).toEqual(Array(20).fill(status));
      expect(statusOf(await call(stranger, acme))).toBe('200');
      configure([], [carrier, acmesPbx], true);
      expect(await statuses(stranger, acme, headers, 20)).toEqual(Array(20).fill(status));
      expect(statusOf(await call(stranger, acme))).toBe('200');
    },
  );

  it.each([
    ['REFER', '403', tries],
    ['UPDATE', '481', tries],
    ['NOTIFY', '481', tries],
    ['PRACK', '481', tries],
    ['BYE', '481', tries],
    ['MESSAGE', '405', tries],
    // Monitors that check us are not scanners.
    ['OPTIONS', '200', 4 * tries],
  ])('count outside calls, too: %s', async (method, status, most) => {
    const answers: string[] = [];
    for (let i = 0; i < most + 2; i++) {
      const before = server.sent.length;
      server.peer({ method, callId: `outside-${i}`, address: stranger, uri: `sip:${bolt}@x`, headers: {} });
      await server.idle();
      answers.push(server.sent.length === before ? 'silence' : statusOf((await server.next()).startLine));
    }
    expect(answers).toEqual([...Array<string>(most).fill(status), 'silence', 'silence']);
  });

  it('count when they name a call that never existed', async () => {
    const answers: string[] = [];
    for (let i = 0; i < tries + 2; i++) {
      const before = server.sent.length;
      server.peer({ method: 'BYE', callId: `never-${i}`, address: stranger, toTag: 'none', dialogId: '' });
      await server.idle();
      answers.push(server.sent.length === before ? 'silence' : statusOf((await server.next()).startLine));
    }
    expect(answers).toEqual(silentAfter('481'));
  });

  it('from a known source never count: it can call after any number of them', async () => {
    for (const method of ['REFER', 'UPDATE', 'NOTIFY', 'PRACK', 'BYE', 'MESSAGE'])
      for (let i = 0; i < tries + 1; i++) {
        server.peer({ method, callId: `${method}-${i}`, address: carrier, uri: `sip:${bolt}@x` });
        await server.idle();
        expect((await server.next()).startLine).toMatch(/^SIP\/2\.0 4/);
      }
    expect(statusOf(await call(carrier, bolt))).toBe('200');
  });
});

describe('a tenant that lists the whole Internet', () => {
  const everything = ['0.0.0.0/0', '::/0'];

  it('gets calls from everywhere, and makes no source known to others', async () => {
    configure(everything, [carrier]);
    expect(statusOf(await call(stranger, acme))).toBe('200');
    const answers = await times(tries + 3, stranger, bolt);
    expect(answers.map(statusOf)).toEqual([...Array<string>(tries).fill('403'), ...Array(3).fill('silence')]);
    clock.advance(3_600_000);
    expect(await times(tries + 3, stranger, nobodys)).toEqual(answers);
  });

  it("still gets calls from a source that was blocked for trying other tenants' numbers", async () => {
    configure(everything, [carrier]);
    const answers = await times(tries, stranger, bolt);
    // A block in the engine would cut it off from the number that accepts it.
    expect(answers.join()).not.toContain('x-trunkline-block');
    expect(await call(stranger, bolt)).toBe('silence');
    expect(statusOf(await call(stranger, acme))).toBe('200');
  });

  it('is reported once', async () => {
    configure(everything, [carrier]);
    configure(everything, [carrier]);
    const lines = log.lines.filter(({ message }) => message.includes('very wide network'));
    expect(lines.map(({ fields }) => fields)).toMatchObject([{ number: acme, networks: everything }]);
    expect(signaling.wideNumbers).toBe(1);
  });

  it('does not make the engine reserve capacity for the whole Internet', () => {
    const seen: unknown[] = [];
    signaling.watchSources((known) => seen.push(known));
    configure(['0.0.0.0/0', '198.51.100.0/24'], [carrier]);
    expect(seen).toEqual([
      { acme: [acmesPbx], bolt: [carrier] },
      { acme: ['198.51.100.0/24'], bolt: [carrier] },
    ]);
  });
});

describe('a carrier of one tenant', () => {
  it('is not locked out of it for its attempts at other tenants', async () => {
    expect((await times(100, carrier, acme)).map(statusOf)).toEqual(Array(100).fill('404'));
    expect(signaling.refusedByEngine(carrier, 1000)).toBe(0);
    expect(statusOf(await call(carrier, bolt))).toBe('200');
  });

  it('is let in at once even if it was blocked as a stranger before', async () => {
    const answers = await times(tries + 1, stranger, bolt);
    expect(answers.at(-1)).toBe('silence');
    configure([acmesPbx], [carrier, stranger]);
    expect(statusOf(await call(stranger, bolt))).toBe('200');
  });
});

describe('2,000 rejected calls', () => {
  it('from a source known to another tenant leave three entries, and the last says that there are more', async () => {
    await flood(2000, () => acmesPbx, bolt);
    const entries = ofOrganization('bolt');
    expect(new Set(entries.map(({ id }) => id)).size).toBe(3);
    expect(entries.at(-1)).toMatchObject({
      termination: 'source_not_allowed',
      sip_code: 404,
      termination_detail: 'Rejected calls in the next 10 minutes are counted, not listed.',
    });
    expect(refused.filter((reason) => reason === 'not_listed')).toHaveLength(1997);
    expect(log.lines.filter(({ message }) => message === 'INVITE rejected')).toHaveLength(1);
    clock.advance(600_000);
    await call(acmesPbx, bolt);
    expect(ofOrganization('bolt').at(-1)).toMatchObject({
      termination_detail: '1997 earlier rejected calls are not in the call log.',
    });
  });

  it('from many strangers leave twenty', async () => {
    await flood(2000, (i) => `203.0.${i >> 8}.${i & 255}`, bolt);
    expect(new Set(ofOrganization('bolt').map(({ id }) => id)).size).toBe(20);
    expect(log.lines.filter(({ message }) => message === 'INVITE rejected')).toHaveLength(600);
  });

  it('to one tenant do not use up the entries of another', async () => {
    await times(100, stranger, bolt);
    await call(stranger, acme);
    clock.advance(600_000);
    await call(stranger, acme);
    expect(ofOrganization('acme')).toHaveLength(1);
  });
});

describe('the share of an organization', () => {
  it('leaves capacity for another, whose calls are accepted, and the log of the one that used it up says so', async () => {
    const answers: string[] = [];
    for (let i = 0; i < 11; i++) answers.push(statusOf(await call(acmesPbx, acme)));
    expect(answers).toEqual([...Array<string>(9).fill('200'), '503', '503']);
    expect(refused).toEqual(['organization_share', 'organization_share']);
    expect(ofOrganization('acme').at(-1)).toMatchObject({
      termination: 'capacity',
      sip_code: 503,
      termination_detail: expect.stringMatching(/share of this edge/),
    });
    expect(statusOf(await call(carrier, bolt))).toBe('200');
    expect(statusOf(await call(carrier, bolt))).toBe('503');
    expect(refused.at(-1)).toBe('capacity');
  });
});
