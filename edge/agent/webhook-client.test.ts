import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WebhookRequest } from '#shared/agent/conversation.ts';
import { FakeClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { settle } from '../../test/kit/edge/agent.ts';
import { createWebhookClient } from './webhook-client.ts';

let server: Server;
let url: string;
let seen = 0;
const clock = new FakeClock();

beforeEach(async () => {
  seen = 0;
  server = createServer((request, response) => {
    seen++;
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/slow') return;
      if (request.url === '/elsewhere') return response.writeHead(302, { location: '/' }).end();
      if (request.url === '/large') return response.end('x'.repeat(2000));
      response.end(
        JSON.stringify({
          method: request.method,
          key: request.headers['x-key'],
          body: Buffer.concat(parts).toString(),
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://hook.example:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(clock.pending).toBe(0);
});

const request = (path: string): WebhookRequest => ({
  method: 'POST',
  url: `${url}${path}`,
  headers: { 'x-key': 'k' },
  body: '{"a":1}',
  timeoutMs: 1000,
});

const client = (allowed: string[] = ['127.0.0.1']) =>
  createWebhookClient({
    allowed: () => parseNetworks(allowed),
    resolve: async () => ['127.0.0.1'],
    clock,
    maxResponseBytes: 1000,
  });

it('sends the request to the checked address and reads JSON', async () => {
  expect(await client()(request('/'))).toEqual({
    status: 200,
    body: { method: 'POST', key: 'k', body: '{"a":1}' },
    error: null,
  });
});

it('does not follow redirects', async () => {
  expect(await client()(request('/elsewhere'))).toEqual({ status: 302, body: '', error: null });
  expect(seen).toBe(1);
});

it('does not contact a private address', async () => {
  const { error } = await client([])(request('/'));
  expect(error).toContain('hook.example is not an allowed target: 127.0.0.1 is a loopback address');
  expect(seen).toBe(0);
});

it('times out', async () => {
  const result = client()(request('/slow'));
  while (seen === 0) await settle();
  clock.advance(1000);
  expect(await result).toEqual({ status: null, body: null, error: 'no answer within 1000 ms' });
});

it('reads no more than its limit', async () => {
  expect((await client()(request('/large'))).error).toBe('the response is larger than 1000 bytes');
});

it('reports an invalid URL', async () => {
  expect((await client()({ ...request('/'), url: 'nowhere' })).error).toBe('"nowhere" is not a URL');
});
