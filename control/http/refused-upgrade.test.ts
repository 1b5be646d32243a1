import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';

let system: TestControl;
let port: number;
beforeAll(async () => {
  system = await startRoutes();
  port = Number(new URL(await system.url()).port);
});
afterAll(() => system.close());

it.each([
  ['an edge without a token', '/v1/edge/link', '401 Unauthorized'],
  ['a path without upgrades', '/v1/health', '404 Not Found'],
  ['a run that nobody expects', `/v1/edge/test-calls/${'0'.repeat(36)}`, '401 Unauthorized'],
])('the connection of %s is closed, though the peer keeps its side open', async (_who, path, status) => {
  const { server } = system.control.app;
  const accepted = once(server, 'connection');
  const peer = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  peer.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  const [socket] = await accepted;
  const closed = once(socket, 'close');
  let answer = '';
  peer.on('data', (chunk) => {
    answer += chunk.toString();
  });
  await once(peer, 'end');
  await closed;
  expect(answer.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
  peer.destroy();
});
