import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { supervisorAgent } from '#shared/supervisor-agent.ts';
import type { App } from './app-types.ts';
import { createBase } from './base.ts';

let lines: { level: number; path?: string; address?: string }[];
let app: App;
beforeEach(() => {
  lines = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  app = createBase({ logger, checkAnswers: false });
  for (const url of ['/health', '/metrics', '/v1/x'])
    app.get(url, (request, reply) => reply.code(Number(request.headers['x-status'])).send({}));
});
afterEach(() => app.close());

const [debug, info] = [20, 30];

it.each([
  ['a probe', '/health', 200, 'curl', debug],
  ['a probe that fails', '/health', 503, 'curl', info],
  ['a check of the supervisor while it waits for the edge', '/health', 503, supervisorAgent, debug],
  ['a scrape', '/metrics', 200, 'prometheus', debug],
  ['a request', '/v1/x', 200, 'curl', info],
  ['a request that says it is the supervisor', '/v1/x', 200, supervisorAgent, info],
])('%s (%s, %i) of %s is a line of level %i', async (_, url, status, agent, level) => {
  await app.inject({ url, headers: { 'user-agent': agent, 'x-status': String(status) } });
  expect(lines.filter(({ path }) => path === url)).toMatchObject([{ level }]);
});

it.each([
  [200, false],
  [403, false],
  [401, true],
  [429, true],
])('a request with the status %i has the address of who sent it: %s', async (status, hasAddress) => {
  await app.inject({ url: '/v1/x', headers: { 'x-status': String(status) }, remoteAddress: '203.0.113.9' });
  expect(lines.map((line) => line.address)).toEqual([hasAddress ? '203.0.113.9' : undefined]);
});
