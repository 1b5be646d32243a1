import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { consolePaths } from '#shared/console-paths.ts';
import { type App, createBase } from '../http/index.ts';
import { ConsoleBuild } from './bundle.ts';
import { consoleLocation } from './location.ts';
import { consoleRoutes } from './routes.ts';

const script = 'console.log("a console")';
const edges = {
  all: [
    { sip: { host: 'edge.example.com', port: 5061, wss_port: 5062 } },
    { sip: { host: '2001:db8::1', port: 5061, wss_port: 443 } },
    { sip: { host: 'trunks.example.com', port: 5061 } },
    { sip: { host: "a b; script-src 'unsafe-inline'", port: 5061, wss_port: 5062 } },
  ],
};
let cache: string;
let app: App;

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'trunkline-console-'));
  app = createBase({ logger: pino({ level: 'silent' }), checkAnswers: true });
  consoleRoutes(app, { edges }, new ConsoleBuild({ TRUNKLINE_CACHE: cache }));
});
afterEach(async () => {
  await app.close();
  await rm(cache, { recursive: true, force: true });
});

/** What set-up leaves: each file with its compressed forms, the mark last. */
async function buildFiles(): Promise<void> {
  const { folder, mark } = consoleLocation({ TRUNKLINE_CACHE: cache });
  await mkdir(join(folder, 'assets'), { recursive: true });
  const files = [
    ['index.html', '<!doctype html><title>Console</title>'],
    ['assets/index-abc.js', script],
    ['assets/visitor-phone-abc.js', 'export {};'],
  ] as const;
  for (const [name, content] of files) {
    await writeFile(join(folder, name), content);
    await writeFile(join(folder, `${name}.gz`), gzipSync(content));
    await writeFile(join(folder, `${name}.br`), 'brotli');
  }
  await writeFile(mark, '{}');
}

it('answers the path of every screen with the page, which nobody may store, frame or feed with code', async () => {
  await buildFiles();
  for (const path of Object.values(consolePaths)) {
    const answer = await app.inject({ url: path.replace(':id', 'some-id') });
    expect(answer.body).toContain('<title>Console</title>');
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const policy = String(answer.headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "connect-src 'self' wss://[2001:db8::1]:443 wss://edge.example.com:5062",
      ]),
    );
    expect(policy.join()).not.toContain('unsafe');
  }
});

it('serves files whose names have a hash to be kept, compressed as the browser accepts', async () => {
  await buildFiles();
  const url = '/assets/index-abc.js';
  const plain = await app.inject({ url });
  expect(plain.body).toBe(script);
  expect(plain.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  });
  expect(plain.headers['content-encoding']).toBeUndefined();
  const codingFor = async (accepted: string) =>
    (await app.inject({ url, headers: { 'accept-encoding': accepted } })).headers['content-encoding'];
  expect(await codingFor('gzip, deflate, br')).toBe('br');
  expect(await codingFor('gzip;q=1.0, deflate')).toBe('gzip');
  expect(await codingFor('identity')).toBeUndefined();
});

it('lets pages of others load the phone of visitors, and no other file', async () => {
  const build = new ConsoleBuild({ TRUNKLINE_CACHE: cache });
  expect(await build.phonePath()).toBeNull();
  await buildFiles();
  const url = (await build.phonePath()) ?? '';
  expect(url).toBe('/assets/visitor-phone-abc.js');
  const rulesOf = async (path: string) => {
    const { headers } = await app.inject({ url: path });
    return [headers['access-control-allow-origin'], headers['cross-origin-resource-policy']];
  };
  expect(await rulesOf(url)).toEqual(['*', 'cross-origin']);
  expect(await rulesOf('/assets/index-abc.js')).toEqual([undefined, 'same-origin']);
});

it('answers other paths as the API does, also those that lead out of the folder', async () => {
  await buildFiles();
  for (const url of [
    '/assets/other.js',
    '/assets/..%2Fbuilt.json',
    '/assets/index.html',
    '/v1/nothing',
    '/calls/a/b',
    '/index.html',
  ]) {
    const answer = await app.inject({ url });
    expect([url, answer.statusCode, answer.json().errors[0].code]).toEqual([url, 404, 'ROUTE_NOT_FOUND']);
  }
  expect((await app.inject({ method: 'POST', url: '/calls' })).statusCode).toBe(405);
});

it('says what to do until set-up has built the console, and serves it from then on', async () => {
  const before = await app.inject({ url: '/' });
  expect([before.statusCode, before.headers['retry-after']]).toEqual([503, '30']);
  expect(before.body).toContain('node scripts/setup.mjs');
  await buildFiles();
  expect((await app.inject({ url: '/' })).statusCode).toBe(200);
});
