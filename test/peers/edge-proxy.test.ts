/** Kamailio as operators configure it (deploy/kamailio), in front of two edges of one control plane, all over TLS. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EdgeOne, type EdgeView } from '#shared/api/edges.ts';
import { authorization, parseChallenges } from '../../edge/signaling/srf/digest.ts';
import { Phone } from '../../scripts/call/phone.ts';
import { issue } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { longTest } from '../kit/long-test.ts';
import { Api } from '../kit/programs/api.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import {
  ampleRtpPorts,
  crash,
  type EdgeUnderTest,
  edgeId,
  FurtherEdge,
} from '../kit/programs/further-edge.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { trunkAuthority } from '../kit/programs/trunk-system.ts';
import { runShown, shownCommand, shownCommands } from '../kit/shown-commands.ts';
import { CarrierLoad, loadCaller } from './carrier-load.ts';
import { Kamailio } from './kamailio.ts';

const proxyAddress = '127.0.0.5';
const carrier = '127.0.0.2';
const stranger = '127.0.0.3';
/** Authenticates by password. */
const pbx = '127.0.0.4';
/** All on one edge once in a million. */
const mostDraws = 20;

let system: TestSystem;
let second: FurtherEdge;
let proxy: Kamailio;
let proxyPort: number;
let operator: Api;
/** Both edges, with their ids. */
let edges: readonly [EdgeUnderTest & { id: string }, EdgeUnderTest & { id: string }];
let number: string;
const opened: (() => unknown)[] = [];

beforeAll(async () => {
  system = await TestSystem.start(await ampleRtpPorts());
  second = await FurtherEdge.start(system, await ampleRtpPorts());
  number = system.tone.number;
  operator = new Api(system.api.url, system.bootstrap.operator_key);
  const first = { program: system.edge, sipPort: system.sipPort, folder: system.folder };
  edges = [
    { ...first, id: await edgeId(first) },
    { program: second.program, sipPort: second.sipPort, folder: second.folder, id: await edgeId(second) },
  ];
  await operator.ok('PUT', '/v1/admin/proxies', { addresses: [proxyAddress] });
  await system.api.attach(number, [carrier]);
  for (const { id } of edges) await edgeWhere(id, inService);
  await system.api.applied(number);
  proxyPort = await freeTcpPort();
  const pair = issue(await trunkAuthority(system), { names: [`IP:${proxyAddress}`] });
  proxy = await Kamailio.start({
    port: proxyPort,
    pair,
    address: proxyAddress,
    edges: edges.map(({ sipPort }) => sipPort),
    trusted: system.ca,
  });
});

afterEach(() => releaseAll(...opened.splice(0).map((close) => async () => void (await close()))));

afterAll(() =>
  releaseAll(
    () => proxy?.kill(),
    () => second?.stop(),
    () => system?.stop(),
  ),
);

const inService = ({ takes_calls }: EdgeView) => takes_calls === true;
const drained = ({ takes_calls, calls }: EdgeView) => takes_calls === false && calls === 0;

async function edgeWhere(id: string, isWished: (edge: EdgeView) => boolean): Promise<EdgeView> {
  return eventually(`edge ${id} to be as wished`, async () => {
    const answer = await operator.request('GET', `/v1/admin/edges/${id}`);
    if (answer.status !== 200) return null;
    const { edge } = answer.read(EdgeOne).data;
    return isWished(edge) ? edge : null;
  });
}

const order = (id: string, draining: boolean) => operator.ok('PATCH', `/v1/admin/edges/${id}`, { draining });

/** How often the proxy has taken the edge out or in so far. */
const changes = ({ sipPort }: EdgeUnderTest, to: 'in' | 'out') =>
  proxy.output.split(`edge sip:127.0.0.1:${sipPort};transport=tls is ${to}`).length - 1;

/** Does `work`, and waits for the proxy to notice. */
async function andProxyHas(edge: EdgeUnderTest, to: 'in' | 'out', work: () => Promise<unknown>) {
  const before = changes(edge, to);
  await work();
  await eventually(`the proxy to take the edge ${to}`, () => (changes(edge, to) > before ? true : null));
}

/** What docs/fleet.md shows to look at the proxy with. @param wished the flags of each edge */
async function proxySees(...wished: (readonly [EdgeUnderTest, flags: string])[]): Promise<void> {
  const [seen] = shownCommands('fleet.md', 'kamcmd').filter(({ output }) => output.length > 0);
  // The page's edges have these flags, too.
  expect(seen?.output.filter((line) => line.startsWith('FLAGS'))).toEqual(['FLAGS: AP', 'FLAGS: IP']);
  // An answer that is late takes an edge out for a moment.
  await eventually('the proxy to see the edges so', async () => {
    const said = saw(await runShown(seen?.line ?? '', proxy.programs));
    const lines = said.split('\n').map((line) => line.trim());
    const flagsOf = ({ sipPort }: EdgeUnderTest) =>
      lines[lines.indexOf(`URI: sip:127.0.0.1:${sipPort};transport=tls`) + 1];
    return wished.every(([edge, flags]) => flagsOf(edge) === `FLAGS: ${flags}`) || null;
  });
}

interface ProxiedCall {
  readonly phone: Phone;
  readonly status: number;
  /** SIP port of the edge that answered; null: none did. */
  readonly edge: number | null;
  readonly challenge: string;
}

async function call(
  from = carrier,
  headers: readonly string[] = [],
  direct?: number,
  dialled = number,
): Promise<ProxiedCall> {
  const host = direct === undefined ? proxyAddress : '127.0.0.1';
  const options = { host, port: direct ?? proxyPort, ca: system.ca, localAddress: from };
  const phone = await Phone.connect(options);
  const media = await SrtpPeer.open();
  opened.push(
    () => phone.close(),
    () => media.close(),
  );
  const response = await phone.invite(dialled, media.sdp({}), headers);
  const challenge = response.header('www-authenticate') ?? '';
  if (response.status !== 200) return { phone, status: response.status, edge: null, challenge };
  media.connect(response.body);
  phone.ack(response);
  const port = /@?127\.0\.0\.1:(\d+)/.exec(response.header('contact') ?? '')?.[1];
  return { phone, status: 200, edge: Number(port), challenge };
}

const hangUp = async ({ phone }: ProxiedCall) => (await phone.request('BYE')).status;

/** The proxy draws edges by weight, so that a few calls in a row may land on one: as many as both edges need. */
async function callsOnBoth(): Promise<ProxiedCall[]> {
  const calls: ProxiedCall[] = [];
  const wanted = new Set<number | null>(edges.map(({ sipPort }) => sipPort));
  while (wanted.size > 0 && calls.length < mostDraws) {
    const one = await call();
    expect(one.status).toBe(200);
    wanted.delete(one.edge);
    calls.push(one);
  }
  expect([...wanted]).toEqual([]);
  return calls;
}

const load = async () => {
  const running = await CarrierLoad.start({
    target: `${proxyAddress}:${proxyPort}`,
    number,
    source: carrier,
    callsPerSecond: 3,
  });
  opened.push(() => running.close());
  return running;
};

describe('through the proxy', () => {
  it('calls land on both edges, with the carrier as their source', async () => {
    const calls = await callsOnBoth();
    for (const one of calls) expect(await hangUp(one)).toBe(200);
    for (const { phone } of calls)
      expect(await system.api.endedCall(phone.callId)).toMatchObject({
        source_ip: carrier,
        termination: 'caller_hangup',
      });
  });

  it('an edge reaches the carrier inside a call', async () => {
    const { phone } = await call();
    const { id } = await system.api.loggedCall(phone.callId, ({ answered_at }) => answered_at !== null);
    await system.api.ok('POST', `/v1/calls/${id}/stop`, {});
    expect((await phone.expect('BYE')).method).toBe('BYE');
    expect(await system.api.endedCall(phone.callId)).toMatchObject({ termination: 'api_stop' });
  });

  // Each from an address of its own: an edge does not answer one that was rejected five times.
  it.each([
    ['with its own address', '127.0.0.21', []],
    ["with a carrier's address in the header", '127.0.0.22', [`X-Trunkline-Source: ${carrier}`]],
    [
      'with the header in other letters, twice',
      '127.0.0.23',
      [`x-TRUNKLINE-source: ${carrier}`, `X-Trunkline-Source:${carrier}`],
    ],
  ])('a stranger is rejected %s', async (_how, address, headers) => {
    expect(await call(address, headers)).toMatchObject({ status: 403 });
    // On its own connection to an edge it is not believed either.
    expect(await call(address, headers, edges[0].sipPort)).toMatchObject({ status: 403 });
  });

  it('nobody is relayed to a host that is not an edge', async () => {
    const { phone } = await call(stranger);
    phone.write(
      [
        `INVITE sip:x@127.0.0.9:5061;transport=tls SIP/2.0`,
        `Via: SIP/2.0/TLS ${stranger}:5061;branch=z9hG4bKrelay`,
        `Route: <sip:${proxyAddress}:${proxyPort};transport=tls;lr>`,
        'Max-Forwards: 70',
        `From: <sip:x@${stranger}>;tag=a`,
        'To: <sip:x@127.0.0.9>;tag=b',
        'Call-ID: relay',
        'CSeq: 1 INVITE',
        `Contact: <sip:x@${stranger}:5061;transport=tls>`,
        'Content-Length: 0',
        '',
        '',
      ].join('\r\n'),
    );
    const answer = await eventually('the answer to a relay attempt', () =>
      phone.received.find((message) => message.header('call-id') === 'relay' && message.status >= 200),
    );
    expect(answer.status).toBe(403);
  });

  // From here on strangers are challenged.
  it('both edges accept the credentials for a challenge of either', async () => {
    const guarded = '+14155550177';
    const password = 'a-long-password';
    await system.api.ok('POST', '/v1/sip/attach', {
      phone_number: guarded,
      directions: [{ type: 'inbound', auth_mode: 'digest', digest_auth: { username: 'acme', password } }],
    });
    await system.api.answerWith(guarded, { prompt: 'Say hello.' });
    await system.api.applied(guarded);
    const first = await call(pbx, [], undefined, guarded);
    expect(first.status).toBe(401);
    const [challenge] = parseChallenges(first.challenge);
    if (!challenge) throw new Error('no challenge');
    const wanted = new Set<number | null>(edges.map(({ sipPort }) => sipPort));
    const request = { username: 'acme', password, method: 'INVITE', uri: 'sip:x', body: '', cnonce: 'c' };
    for (let nonceCount = 1; wanted.size > 0 && nonceCount <= mostDraws; nonceCount++) {
      const header = `Authorization: ${authorization(challenge, { ...request, nonceCount })}`;
      const one = await call(pbx, [header], undefined, guarded);
      expect(one.status).toBe(200);
      wanted.delete(one.edge);
      expect(await hangUp(one)).toBe(200);
    }
    expect([...wanted]).toEqual([]);
  });
});

it('has files that Kamailio finds valid by the command of the page', async () => {
  const [check, restart] = shownCommand('fleet.md', 'kamailio').line.split(' && ');
  expect(restart).toBe('systemctl restart kamailio');
  await runShown(check ?? '', proxy.programs);
});

describe('an edge that is drained by the API under running calls', () => {
  it('loses none of them, gets no new ones, keeps draining over restarts, and is back when undrained', async () => {
    const [one, other] = edges;
    const carrierLoad = await load();
    await carrierLoad.progress(6);
    const kept = await call();
    await proxySees([one, 'AP'], [other, 'AP']);
    await andProxyHas(one, 'out', () => order(one.id, true));
    await proxySees([one, 'IP'], [other, 'AP']);
    // All that now arrive are on the other edge.
    const later = [await call(), await call(), await call()];
    expect(later.map(({ edge }) => edge)).toEqual([other.sipPort, other.sipPort, other.sipPort]);
    for (const each of [kept, ...later]) expect(await hangUp(each)).toBe(200);
    await edgeWhere(one.id, drained);
    await carrierLoad.progress(6);
    // Neither a restart of the edge nor one of control changes it, not even both at a time.
    await system.control.end('SIGTERM');
    await one.program.end('SIGTERM');
    one.program.start();
    await eventually('the restarted edge to answer', async () =>
      (await call(carrier, [], one.sipPort).catch(() => null))?.status === 503 ? true : null,
    );
    await system.startControl();
    const again = await edgeWhere(one.id, ({ engine }) => engine === 'up');
    expect(again).toMatchObject({ draining: true, takes_calls: false });
    expect(await call(carrier, [], one.sipPort)).toMatchObject({ status: 503 });
    await andProxyHas(one, 'in', () => order(one.id, false));
    await carrierLoad.progress(6);
    expect(await carrierLoad.finish()).toMatchObject({ failed: 0 });
    await edgeWhere(one.id, inService);
    for (const each of await callsOnBoth()) expect(await hangUp(each)).toBe(200);
  });
});

describe('an edge that is killed', () => {
  it('ends its calls with a cause in the log; new calls succeed on the other', async () => {
    const [one, other] = edges;
    const calls = await callsOnBoth();
    const lost = calls.filter(({ edge }) => edge === other.sipPort);
    await andProxyHas(other, 'out', async () => {
      await crash(other);
      // The proxy does not know yet: each is tried at the dead edge for at most 2 s, then goes to the living one.
      for (let next = 0; next < 4; next++) {
        const survivor = await call();
        expect(survivor).toMatchObject({ status: 200, edge: one.sipPort });
        expect(await hangUp(survivor)).toBe(200);
      }
    });
    for (const each of calls) if (!lost.includes(each)) expect(await hangUp(each)).toBe(200);
    await andProxyHas(other, 'in', async () => {
      other.program.start();
      await edgeWhere(other.id, inService);
    });
    for (const { phone } of lost)
      expect(await system.api.endedCall(phone.callId)).toMatchObject({ termination: 'edge_restarted' });
  });
});

describe('a rolling upgrade of the edges', () => {
  longTest('loses no call: each is drained, restarted and undrained under load', async () => {
    const before = new Set((await system.api.calls()).map(({ id }) => id));
    const carrierLoad = await load();
    for (const edge of edges) {
      await carrierLoad.progress(4);
      await andProxyHas(edge, 'out', () => order(edge.id, true));
      await edgeWhere(edge.id, drained);
      await edge.program.end('SIGTERM');
      edge.program.start();
      await edgeWhere(edge.id, ({ connected, engine }) => connected && engine === 'up');
      await andProxyHas(edge, 'in', () => order(edge.id, false));
    }
    await carrierLoad.progress(4);
    const { created, succeeded, failed, errors } = await carrierLoad.finish();
    expect({ failed, lost: created - succeeded, errors: failed === 0 ? '' : errors }).toEqual({
      failed: 0,
      lost: 0,
      errors: '',
    });
    // The log has each call once, ended by the carrier: what a draining edge rejected was taken by the other.
    const logged = await eventually('all calls in the log', async () => {
      const calls = (await system.api.calls()).filter(
        ({ id, from }) => from === loadCaller && !before.has(id),
      );
      return calls.length === created && calls.every(({ ended_at }) => ended_at !== null) ? calls : null;
    });
    expect(new Set(logged.map(({ termination }) => termination))).toEqual(new Set(['caller_hangup']));
  });
});

it('without an edge in service the carrier gets 503, before the proxy knows it and after', async () => {
  const [one, other] = edges;
  await order(one.id, true);
  await edgeWhere(one.id, drained);
  await andProxyHas(other, 'out', async () => {
    await order(other.id, true);
    await edgeWhere(other.id, drained);
    expect(await call()).toMatchObject({ status: 503 });
  });
  expect(await call()).toMatchObject({ status: 503 });
});
