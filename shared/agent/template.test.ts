import { expect, it } from 'vitest';
import { fillJsonTemplate, fillTemplate, lookUp } from './template.ts';

const variables = { name: 'Ann', order: { id: 7, lines: [{ sku: 'x' }] }, none: null, quote: 'a "b"' };

it.each([
  ['Hi {{name}}!', 'Hi Ann!'],
  ['{{ order.id }}/{{order.lines[0].sku}}', '7/x'],
  ['[{{none}}{{unknown}}{{order.no.more}}]', '[]'],
  ['{{order.lines}}', '[{"sku":"x"}]'],
  ['{{constructor}}{{__proto__}}', ''],
  ['{{}} {name} {{ }}', '{{}} {name} {{ }}'],
])('"%s" becomes "%s"', (text, filled) => {
  expect(fillTemplate(text, variables)).toBe(filled);
});

it('escapes values inserted into JSON', () => {
  expect(JSON.parse(fillJsonTemplate('{"q":"{{quote}}","n":{{order.id}}}', variables))).toEqual({
    q: 'a "b"',
    n: 7,
  });
});

it('reads JSON paths with and without $', () => {
  expect(
    ['$.order.id', 'order.id', "$['order']['id']", '$.order.lines[0].sku', '$'].map((path) =>
      lookUp(variables, path),
    ),
  ).toEqual([7, 7, 7, 'x', variables]);
});
