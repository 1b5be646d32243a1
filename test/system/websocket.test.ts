/** SIP over secure WebSocket (RFC 7118) through the whole edge, and the phone sessions that admit calls over it. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { PhoneSessionMade } from '#shared/api/phone-sessions.ts';
import { RefusedPage } from '#shared/api/refused.ts';
import { authorization, parseChallenges } from '../../edge/signaling/srf/digest.ts';
import { BrowserPhone } from '../kit/edge/browser.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';

let system: TestSystem;
let port: number;

beforeAll(async () => {
  port = await freeTcpPort();
  system = await TestSystem.start({ SIP_WSS_PORT: String(port) });
});

afterAll(() => system?.stop());

test('OPTIONS from a browser phone are answered over its WebSocket', async () => {
  const socket = new WebSocket(`wss://127.0.0.1:${port}`, 'sip', { ca: system.ca });
  await once(socket, 'open');
  expect(socket.protocol).toBe('sip');
  const answer = once(socket, 'message');
  socket.send(
    [
      'OPTIONS sip:edge@127.0.0.1 SIP/2.0',
      'Via: SIP/2.0/WSS phone.invalid;branch=z9hG4bK-websocket-test',
      'Max-Forwards: 70',
      'From: <sip:phone@phone.invalid>;tag=1',
      'To: <sip:edge@127.0.0.1>',
      'Call-ID: websocket-test',
      'CSeq: 1 OPTIONS',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n'),
  );
  const [message] = await answer;
  expect(String(message)).toMatch(/^SIP\/2\.0 200 OK\r\n/);
  expect(String(message)).toContain('\r\nCall-ID: websocket-test\r\n');
  socket.close();
  await once(socket, 'close');
});

test('a WebSocket without the SIP subprotocol is rejected', async () => {
  const socket = new WebSocket(`wss://127.0.0.1:${port}`, 'mqtt', { ca: system.ca });
  const [error] = await once(socket, 'error');
  expect(String(error)).toMatch(/subprotocol|Unexpected server response: 4\d\d/i);
});

test('a browser calls with a phone session, as often as that says; a further call is refused and reported', async () => {
  const { number } = system.tone;
  const order = { phone_number: number, caller: 'Ada', calls: 1 };
  const { credentials, phone_session } = (
    await system.api.read(PhoneSessionMade, 'POST', '/v1/phone-sessions', order)
  ).data;
  expect(credentials.url).toBe(`wss://127.0.0.1:${port}/`);
  const phone = await BrowserPhone.connect(port, system.ca);
  let cseq = 0;
  /** An INVITE, and its rejection. The offer is one that no call accepts: what admits it is tested, not its media. */
  const invite = async (headers: Record<string, string>) => {
    const offer = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n';
    const call = { 'Call-ID': `phone-${++cseq}`, ...headers };
    const [, via = ''] = phone.request('INVITE', cseq, call, offer, credentials.uri);
    const answer = await phone.response();
    const ack = { ...call, Via: via.slice('Via: '.length), To: answer.headers.get('to') ?? '' };
    phone.request('ACK', cseq, ack, '', credentials.uri);
    return answer;
  };
  const authorized = async () => {
    const asked = await invite({});
    expect(asked.status).toBe(401);
    const [challenge] = parseChallenges(asked.headers.get('www-authenticate') ?? '');
    if (!challenge) throw new Error('no challenge');
    const { username, password, uri } = credentials;
    const request = { username, password, uri, method: 'INVITE', body: '', nonceCount: 1, cnonce: 'c0ffee' };
    return invite({ Authorization: authorization(challenge, request) });
  };

  expect((await authorized()).status).toBe(488);
  const record = await eventually('the call in the log', async () =>
    (await system.api.calls()).find(({ from }) => from === 'Ada'),
  );
  expect(record).toMatchObject({ to: number, trunk_id: null, termination: 'media_refused' });

  const refused = await authorized();
  expect([refused.status, refused.reason]).toEqual([403, 'The phone session has made all of its calls']);
  const entry = await eventually('the report of the refused call', async () =>
    (await system.api.read(RefusedPage, 'GET', '/v1/sip/refused')).data.refused.find(
      ({ reason }) => reason === 'phone_session_used_up',
    ),
  );
  expect(entry).toMatchObject({ phone_number: number, sip_status: 403, attempts: 1 });
  await system.api.ok('DELETE', `/v1/phone-sessions/${phone_session.id}`);
  phone.socket.close();
  await phone.closed;
});
