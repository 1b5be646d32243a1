/** How nodes are named on the page. */
import { expect, it } from 'vitest';
import { nodesOf, titleOf } from './graph.ts';

const titles = (data: object, type = 'Default') =>
  nodesOf({ nodes: [{ id: 'n1', type, data: { ...data } }], edges: [] }).map((node) => [
    node.name,
    titleOf(node),
  ]);

it('has its own name alone', () => {
  expect(titles({ name: 'Greeting', text: 'Hello' })).toEqual([['Greeting', 'Greeting']]);
});

it('has the first words of what it says, and its type, when it has no name', () => {
  const text = ' Hello,\n how can I help you today? We are open from nine to five.';
  expect(titles({ name: '', text })).toEqual([
    [
      'Hello, how can I help you today? We are…',
      'speaks and listens: Hello, how can I help you today? We are…',
    ],
  ]);
  expect(titles({ text: ' ', prompt: 'Say goodbye.' }, 'End Call')).toEqual([
    ['Say goodbye.', 'hangs up: Say goodbye.'],
  ]);
});

it('has its type and id when it says nothing, and an id of one long word is not cut away', () => {
  expect(titles({}, 'Webhook')).toEqual([['n1', 'HTTP request: n1']]);
  expect(titles({ text: 'x'.repeat(60) })).toEqual([
    ['x'.repeat(60), `speaks and listens: ${'x'.repeat(60)}`],
  ]);
});
