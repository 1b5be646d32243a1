/** The optional listener for SIP over secure WebSocket (RFC 7118), through the whole edge. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
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
