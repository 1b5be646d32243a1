import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/kit/any-character.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { makePathway, makeThread, makeWidget, origin, unknownId } from '../../test/kit/control/widgets.ts';
import { rounds } from '../../test/kit/long-test.ts';

let test: TestControl;
let pathway = '';
let widget = '';
let open = '';
let live = '';
beforeAll(async () => {
  test = await startControl(
    { RATE_LIMIT_PER_MINUTE: '1000000' },
    {},
    {},
    { limits: { widgets: { sessionsPerMinute: 1_000_000 } } },
  );
  pathway = await makePathway(test);
  widget = await makeWidget(test, { blockedWords: ['a', '\ud800', '😀 b', '\n'] }, pathway);
  open = await makeThread(test, widget);
  live = await makeThread(test, widget);
  await test.call('POST', `${live}/handoff`);
});
afterAll(() => test.close());

const names = [
  ...['name', 'pathway_id', 'persona_id', 'pathway_version', 'config', 'content', 'sender_type'],
  ...['timeoutSeconds', 'greeting', 'blockedWords', 'allowedOrigins', 'visitor_id', 'request_data'],
];
const leaf = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    1,
    60,
    'production',
    'USER',
    'ASSISTANT',
    '*',
    origin,
    unknownId,
    '{{name}}',
  ),
  fc.string({ unit: anyCharacter }),
  fc.double(),
  fc.integer(),
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie('value'), { maxKeys: 6 }),
  ),
}));
const config = fc.record(
  {
    timeoutSeconds: fc.oneof(fc.integer({ min: 0, max: 3_000_000 }), json),
    greeting: json,
    blockedWords: fc.oneof(fc.array(fc.string({ unit: anyCharacter })), json),
    allowedOrigins: fc.oneof(fc.array(fc.oneof(fc.webUrl(), fc.constantFrom('*', origin))), json),
  },
  { requiredKeys: [] },
);
const message = fc.record(
  { content: fc.oneof(fc.string({ unit: anyCharacter, minLength: 1 }), json), sender_type: leaf },
  { requiredKeys: ['content'] },
);

const targets: readonly (readonly [string, () => string, fc.Arbitrary<unknown>])[] = [
  ['a widget', () => '/v1/widget', fc.record({ name: fc.string(), pathway_id: json, config })],
  [
    'a widget of a real pathway',
    () => '/v1/widget',
    fc
      .record({ name: fc.string({ minLength: 1 }), config })
      .map((body) => ({ ...body, pathway_id: pathway })),
  ],
  ['a thread', () => `${widget}/threads`, fc.record({ visitor_id: leaf, request_data: json })],
  ['a message', () => `${open}/messages`, message],
  ['a message to a live agent', () => `${live}/messages`, message],
  ['a hand-off', () => `${widget}/threads/${unknownId}/handoff`, json],
  ['an end', () => `${widget}/threads/${unknownId}/end`, json],
  ['a session', () => `${widget}/session`, fc.record({ visitor_id: leaf })],
];

describe('any body gets a response from the contract', () => {
  it.each(targets)('%s', async (_name, url, body) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, json), async (value) => {
        const answer = await test.control.app.inject({
          method: 'POST',
          url: url(),
          headers: { authorization: test.key, origin, 'content-type': 'application/json' },
          payload: JSON.stringify(value) ?? '',
        });
        expect([200, 400, 404, 409]).toContain(answer.statusCode);
        expect(answer.json()).toMatchObject({ status: answer.statusCode });
      }),
      { numRuns: rounds(80) },
    );
  });

  it('paths, queries and headers', async () => {
    const paths = fc.constantFrom<(text: string) => string>(
      (text) => `/v1/widget/${text}/threads`,
      (text) => `/v1/widget/${unknownId}/threads?thread_id=${text}`,
      (text) => `${widget}/threads?page=${text}`,
      (text) => `${widget}/threads?limit=${text}`,
      (text) => `/widget/${text}/embed.js`,
      (text) => `${widget}/threads/${text}/events`,
    );
    await fc.assert(
      fc.asyncProperty(paths, fc.string({ unit: anyCharacter }), fc.string(), async (path, text, header) => {
        const answer = await test.call('GET', path(encodeURIComponent(text.toWellFormed())), {
          headers: {
            'last-event-id': encodeURIComponent(header.toWellFormed()),
            'if-none-match': encodeURIComponent(header.toWellFormed()),
          },
        });
        expect([200, 400, 404]).toContain(answer.status);
      }),
      { numRuns: rounds(150) },
    );
  });
});
