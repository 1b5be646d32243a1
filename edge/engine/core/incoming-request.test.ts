import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connection } from '../../../test/kit/edge/connection.ts';
import { requestOf } from '../../../test/kit/edge/stack.ts';
import { AppClient } from '../drachtio-port/client.ts';
import { parseMessage } from '../message/parse.ts';
import { Metrics } from '../transport/metrics.ts';
import { IncomingRequest } from './incoming-request.ts';
import { TracedMessages } from './traced-messages.ts';

const invite = [
  'INVITE sip:a@192.0.2.2 SIP/2.0',
  'Via: SIP/2.0/TLS 192.0.2.1;branch=z9hG4bK1',
  'From: <sip:b@192.0.2.1>;tag=1',
  'To: <sip:a@192.0.2.2>',
  'Call-ID: 1',
  'CSeq: 1 INVITE',
  'Content-Length: 0',
  '\r\n',
].join('\r\n');

it('does not retransmit its response to a peer that has not read what waits for it', () => {
  const { flow, wire, news } = connection();
  const clock = new FakeClock();
  const parsed = parseMessage(Buffer.from(invite));
  if (!parsed.ok) throw new Error(parsed.reason);
  const socket = { writableLength: 0, cork() {}, uncork() {}, write() {}, end() {}, destroy() {} };
  const owner = {
    clock,
    messages: new TracedMessages(new Metrics(), null, clock),
    unanswered: () => {},
    silent: () => {},
    ended: () => {},
  };
  const incoming = new IncomingRequest(
    owner,
    'key',
    null,
    requestOf(parsed.message),
    flow,
    new AppClient(socket, 1_000),
    null,
  );
  incoming.send(Buffer.from('SIP/2.0 200 OK'));
  incoming.resend(Buffer.from('SIP/2.0 200 OK'));
  expect(news()).toEqual(['write "SIP/2.0 200 OK"', 'write "SIP/2.0 200 OK"']);
  wire.queuedBytes = 1_200_000;
  incoming.resend(Buffer.from('SIP/2.0 200 OK'));
  expect(news()).toEqual([]);
  wire.queuedBytes = 0;
  incoming.resend(Buffer.from('SIP/2.0 200 OK'));
  expect(news()).toEqual(['write "SIP/2.0 200 OK"']);
});
