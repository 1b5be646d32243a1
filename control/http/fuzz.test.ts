/** Any input gets a response from the contract: never 500, and every error has a reason. */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/kit/any-character.ts';
import { bodiesOf, type Words } from '../../test/kit/control/from-schema.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { type ServedRoute, servedRoutes, unknownId } from '../../test/kit/control/routes.ts';
import { onceIsEnough, onSqlite } from '../../test/kit/db/test-database.ts';
import { rounds } from '../../test/kit/long-test.ts';

const test = await startRoutes({ RATE_LIMIT_PER_MINUTE: '1000000' });
afterAll(() => test.close());
const routes = await servedRoutes(test);
/** Most of a request is read and checked before a database hears of it: PostgreSQL gets fewer. */
const runs = rounds(onSqlite ? 25 : 8);

/** Made once, because it takes longer to make than many values of it. */
const anyText = fc.string({ unit: anyCharacter });

const number = '+14155550100';
const attach = () =>
  test.call('POST', '/v1/sip/attach', {
    body: {
      phone_number: number,
      directions: ['inbound', { type: 'outbound', sip_endpoint: 'a.example.com' }],
    },
  });

/** Creates an object from the collection's example body: returns the first uuid in the response. */
async function make(collection: string): Promise<string> {
  const route = routes.find(({ name }) => name === `POST ${collection}`);
  if (!route) return unknownId;
  const { status, text } = await test.call('POST', collection, { body: { ...route.example } });
  const [id] = /(?:TL-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text) ?? [];
  return status === 200 && id !== undefined ? id : unknownId;
}

const pathway = await make('/v1/pathway/create');
const persona = await make('/v1/personas');
const widget = await make('/v1/widget');
const tool = await make('/v2/tools');

/** Routes address existing rows, except where they would contact anyone outside. */
const existing: readonly (readonly [begins: string, id: string])[] = [
  ['/v1/inbound/', number.slice(1)],
  ['/v1/pathway/', pathway],
  ['/v1/personas/', persona],
  ['/v1/widget/', widget],
];

function urlOf({ url, name }: ServedRoute): string {
  const known = existing.find(([begins]) => url.startsWith(begins));
  if (known) return url.replace(unknownId, known[1]);
  return name === 'POST /v2/tools/{id}' ? url.replace(unknownId, tool) : url;
}

const words: Words = [
  ['number', [number, number, '+14155550199']],
  ['to', [number, '100', 'sip:b.example.com:5070']],
  ['pathway_id', [pathway]],
  ['persona_id', [persona]],
  ['id', [pathway, persona, widget, tool, unknownId]],
  ['url', ['https://a.example.com/x', 'wss://a.example.com', 'https://127.0.0.1/']],
  ['webhook', ['https://a.example.com/x']],
  ['endpoint', ['a.example.com', 'sip:b.example.com:5070', 'tls://c.example.com', 'sip:d;transport=udp']],
  ['host', ['a.example.com', '198.51.100.1', '127.0.0.1']],
  ['allowed_ips', ['198.51.100.1', '203.0.113.0/24', '2001:db8::1']],
  ['date', ['2031-05-06', '2030-01-01T00:00:00Z']],
  ['type', ['Default', 'End Call', 'inbound', 'outbound', 'custom', 'uui']],
  ['', ['register', 'ip', 'production', 'rest_api', '{{input.name}}', 'long password', 'X-Header']],
  ['', ['name', 'data', 'source', 'target', 'constructor', 'toString']],
];
const texts = words.flatMap(([, some]) => some);

async function expectAnswered(route: ServedRoute, url: string, body?: string): Promise<void> {
  const key = route.access === 'operator' ? test.operatorKey : test.key;
  const headers = { authorization: key, ...(body !== undefined && { 'content-type': 'application/json' }) };
  const payload = body === undefined ? {} : { payload: body };
  const ask = () => test.control.app.inject({ method: route.method, url, headers, ...payload });
  let answer = await ask();
  if (answer.statusCode === 429) {
    // Past every rate limit window.
    test.clock.advance(15 * 60_000);
    answer = await ask();
  }
  const isJson = String(answer.headers['content-type']).startsWith('application/json');
  // 502 and 503 are in the contract: a language model or an edge is unavailable.
  const code = answer.statusCode >= 400 && isJson ? answer.json().errors[0].code : '';
  expect({ status: answer.statusCode, code, body }).not.toMatchObject({ status: 500 });
  if (answer.statusCode < 400 || !isJson) return;
  for (const { message, details } of answer.json().errors) {
    expect(message).not.toBe('');
    // A request without a body has no place in one (contract 1.3).
    if (body === undefined) expect(details?.path ?? '?').toMatch(/^[?:@]/);
  }
}

const named = (list: readonly ServedRoute[]) => list.map((route) => [route.name, route] as const);
const withBody = routes.filter(({ body, contentType }) => body && contentType === 'application/json');

describe('no route fails on any body', () => {
  // An earlier body may have detached it.
  beforeEach(attach);
  it.each(named(withBody))('%s', async (_, route) => {
    const bodies = bodiesOf(route.body ?? {}, route.example, words);
    await fc.assert(
      fc.asyncProperty(bodies, (value) => expectAnswered(route, urlOf(route), JSON.stringify(value) ?? '')),
      { numRuns: runs },
    );
  });
});

// It is refused before a database hears of it.
describe.runIf(onceIsEnough)('no route fails on a deep body', () => {
  beforeAll(attach);
  const key = (route: ServedRoute) => Object.keys(route.example)[0] ?? 'name';
  it.each(named(withBody))('%s', async (_, route) => {
    const depths = fc.constantFrom(9, 10, 11, 62, 63, 64, 65, 100_000);
    const brackets = fc.constantFrom(['[', ']'], ['{"a":', '}']);
    await fc.assert(
      fc.asyncProperty(depths, brackets, async (depth, [open = '', close = '']) => {
        const value = `${open.repeat(depth)}1${close.repeat(depth)}`;
        const others = JSON.stringify({ ...route.example, [key(route)]: undefined }).slice(1, -1);
        const body = `{${others}${others && ','}${JSON.stringify(key(route))}:${value}}`;
        await expectAnswered(route, urlOf(route), body);
      }),
      { numRuns: Math.ceil(runs / 5) },
    );
  });
});

describe('no route fails on any path and query', () => {
  const withText = routes.filter(
    ({ hasEnd, method, queryNames, url }) =>
      method === 'GET' && hasEnd && (url.includes(unknownId) || queryNames.length > 0),
  );
  it.each(named(withText))('%s', async (_, route) => {
    const text = fc.oneof(fc.constantFrom(...texts, '0', '-1', '1e9', ''), anyText);
    const query = fc.dictionary(fc.constantFrom(...route.queryNames, 'unknown'), text, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(text, query, async (id, values) => {
        const path = route.url.replaceAll(unknownId, encodeURIComponent(id.toWellFormed()) || 'x');
        const pairs = Object.entries(values).map(([name, value]): [string, string] => [
          name,
          value.toWellFormed(),
        ]);
        await expectAnswered(route, `${path}?${new URLSearchParams(pairs)}`);
      }),
      { numRuns: runs },
    );
  });
});
