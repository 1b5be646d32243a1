/** REFER and its NOTIFYs inside an INVITE dialog, in both directions (RFC 3515, RFC 5057). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { engineConfiguration, TestCertificates } from '../../../test/kit/edge/engine.ts';
import { RawApp } from '../../../test/kit/edge/raw-app.ts';
import { TestPeer } from '../../../test/kit/edge/sip-peer.ts';
import { releaseAll } from '../../../test/kit/fakes/release.ts';
import { parseConfiguration, stackOptions } from '../configuration.ts';
import type { SipMessage, SipRequest } from '../message/message.ts';
import { Stack, type StackAddresses } from '../stack.ts';

let certificates: TestCertificates;
let clock: FakeClock;
let stack: Stack;
let addresses: StackAddresses;
let app: RawApp;
let peer: TestPeer;
let branches = 0;
/** To of the peer's requests, with our tag. */
let to: string;
let dialogId: string;

beforeAll(() => {
  certificates = new TestCertificates();
});
afterAll(() => certificates.remove());

beforeEach(async () => {
  clock = new FakeClock();
  const configuration = JSON.stringify(engineConfiguration(certificates));
  stack = new Stack(stackOptions(parseConfiguration(configuration)), clock, () => {});
  addresses = await stack.listen();
  app = await RawApp.routing(addresses.app.port, 'invite', 'refer', 'notify');
  peer = await TestPeer.connect(addresses.tls.port, certificates.ca);
  to = '<sip:b@127.0.0.1>';
  peer.send(lines('INVITE', 1, { 'Record-Route': '<sip:127.0.0.1:9;transport=tls;lr>' }), 'v=0\r\n');
  const { tokens } = await app.next();
  const echo = await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'], 'v=0\r\n');
  dialogId = echo[8] ?? '';
  to = (await peer.next()).headers.get('to') ?? '';
  peer.send(lines('ACK', 1));
  await app.next();
});

afterEach(() =>
  releaseAll(
    () => peer.close(),
    () => app.close(),
    () => stack.close(),
  ),
);

/** A request from the peer. */
function lines(method: string, cseq: number, changes: Readonly<Record<string, string>> = {}): string[] {
  const fields: Record<string, string> = {
    Via: `SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bK-${++branches}`,
    From: '<sip:a@127.0.0.1>;tag=a',
    To: to,
    'Call-ID': 'c',
    CSeq: `${cseq} ${method}`,
    Contact: '<sip:a@127.0.0.1:9;transport=tls>',
    ...changes,
  };
  const fieldLines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [`${method} sip:b@127.0.0.1 SIP/2.0`, ...fieldLines];
}

/** The peer's response to a request of ours. */
function answer({ headers }: SipRequest, status: string): void {
  const same = ['via', 'from', 'to', 'call-id', 'cseq'].map((name) => `${name}: ${headers.get(name)}`);
  peer.send([`SIP/2.0 ${status}`, ...same]);
}

function requestOf(message: SipMessage): SipRequest {
  if (message.kind !== 'request') throw new Error(`a ${message.status} came instead of a request`);
  return message;
}

async function sends(method: string, headers: string[], body = ''): Promise<SipRequest> {
  const [ok] = await app.ask(`sip||${dialogId}`, [`${method} sip:placeholder SIP/2.0`, ...headers], body);
  expect(ok).toBe('OK');
  return requestOf(await peer.next());
}

const notify = (state: string) => [
  'Event: refer',
  `Subscription-State: ${state}`,
  'Content-Type: message/sipfrag',
];

describe('a REFER from the peer', () => {
  it('is delivered to the application, and its NOTIFYs use the dialog and route, with increasing CSeq', async () => {
    peer.send(lines('REFER', 2, { 'Refer-To': '<sip:c@127.0.0.1>' }));
    const { tokens } = await app.next();
    expect(tokens[9]).toBe(dialogId);
    await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 202 Accepted']);
    expect(await peer.next()).toMatchObject({ kind: 'response', status: 202 });
    const trying = await sends('NOTIFY', notify('active;expires=60'), 'SIP/2.0 100 Trying\r\n');
    expect(trying.uri).toBe('sip:a@127.0.0.1:9;transport=tls');
    expect(trying.headers.get('route')).toBe('<sip:127.0.0.1:9;transport=tls;lr>');
    expect(trying.headers.get('cseq')).toBe('2 NOTIFY');
    answer(trying, '200 OK');
    await app.next();
    const done = await sends('NOTIFY', notify('terminated;reason=noresource'), 'SIP/2.0 200 OK\r\n');
    expect(done.headers.get('cseq')).toBe('3 NOTIFY');
    answer(done, '200 OK');
    await app.next();
    expect((await sends('BYE', [])).headers.get('cseq')).toBe('4 BYE');
  });

  it('with an out-of-order CSeq is rejected', async () => {
    peer.send(lines('REFER', 1, { 'Refer-To': '<sip:c@127.0.0.1>' }));
    expect(await peer.next()).toMatchObject({ status: 500, reason: 'CSeq Out Of Order' });
  });

  it('refreshes the target when it is accepted, as a NOTIFY does', async () => {
    const accept = async (status: string) => {
      await app.ask(`sip|${(await app.next()).tokens[8]}|`, [`SIP/2.0 ${status}`]);
      expect(await peer.status()).toBe(Number(status.slice(0, 3)));
    };
    const moved = { Contact: '<sip:a@127.0.0.1:10;transport=tls>' };
    peer.send(lines('REFER', 2, { ...moved, 'Refer-To': '<sip:c@127.0.0.1>' }));
    await accept('202 Accepted');
    expect((await sends('NOTIFY', notify('active'), 'x')).uri).toBe('sip:a@127.0.0.1:10;transport=tls');
    peer.send(lines('NOTIFY', 3, { Event: 'refer', 'Subscription-State': 'active' }));
    await accept('200 OK');
    expect((await sends('NOTIFY', notify('active'), 'x')).uri).toBe('sip:a@127.0.0.1:9;transport=tls');
  });
});

describe('a REFER of ours', () => {
  it('has a Contact, and its last NOTIFY leaves the call unchanged', async () => {
    const refer = await sends('REFER', ['Refer-To: <sip:c@127.0.0.1>']);
    expect(refer.headers.get('cseq')).toBe('2 REFER');
    expect(refer.headers.get('contact')).toBe(`<sip:127.0.0.1:${addresses.tls.port};transport=tls>`);
    // It crosses the response.
    peer.send(
      lines('NOTIFY', 2, { Event: 'refer', 'Subscription-State': 'terminated' }),
      'SIP/2.0 200 OK\r\n',
    );
    const { tokens } = await app.next();
    expect(tokens[9]).toBe(dialogId);
    await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await peer.next()).toMatchObject({ status: 200 });
    answer(refer, '202 Accepted');
    expect((await app.next()).tokens[9]).toBe(dialogId);
    expect((await sends('BYE', [])).headers.get('cseq')).toBe('3 BYE');
  });

  it('may cross one from the peer', async () => {
    const ours = await sends('REFER', ['Refer-To: <sip:c@127.0.0.1>']);
    peer.send(lines('REFER', 2, { 'Refer-To': '<sip:d@127.0.0.1>' }));
    const { tokens } = await app.next();
    await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 491 Request Pending']);
    expect(await peer.next()).toMatchObject({ status: 491 });
    answer(ours, '603 Decline');
    expect((await app.next()).tokens[9]).toBe(dialogId);
  });
});

describe('a BYE after a REFER', () => {
  it('from the peer ends the dialog: later NOTIFYs are rejected', async () => {
    peer.send(lines('BYE', 2));
    await app.next();
    const refused = await app.ask(
      `sip||${dialogId}`,
      ['NOTIFY sip:placeholder SIP/2.0', ...notify('active')],
      'SIP/2.0 200 OK\r\n',
    );
    expect(refused).toEqual(['NOK', 'Server error: unable to find dialog for dialog id provided']);
    peer.send(lines('NOTIFY', 3, { Event: 'refer', 'Subscription-State': 'active' }));
    expect(await peer.next()).toMatchObject({ status: 481 });
  });

  it('of ours keeps the dialog for late NOTIFYs until it is answered', async () => {
    const bye = await sends('BYE', []);
    peer.send(lines('NOTIFY', 2, { Event: 'refer', 'Subscription-State': 'terminated' }));
    const { tokens } = await app.next();
    await app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await peer.next()).toMatchObject({ status: 200 });
    answer(bye, '200 OK');
    await app.next();
    peer.send(lines('NOTIFY', 3, { Event: 'refer', 'Subscription-State': 'terminated' }));
    expect(await peer.next()).toMatchObject({ status: 481 });
  });
});
