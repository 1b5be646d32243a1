import { expect, it } from 'vitest';
import { fieldTables, limitsOf, typeText } from './fields.ts';

it.each([
  [{ type: 'string' }, 'text'],
  [{ type: 'array', items: { type: 'integer' } }, 'list of integer'],
  [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, 'boolean or <code>null</code>'],
  [{ enum: ['a', 'b'] }, '<code>a</code>, <code>b</code>'],
  [{}, 'any value'],
])('names the type of %j', (schema, text) => {
  expect(typeText(schema)).toBe(text);
});

it.each([
  [{ minLength: 1, maxLength: 64 }, ['1 to 64 characters']],
  [{ minimum: 0, maximum: 720, default: 30 }, ['0 to 720', 'default <code>30</code>']],
  [{ pattern: '^[0-9]+$', 'x-rule': 'digits' }, ['digits']],
  [{ pattern: '^<$' }, ['of the form <code>^&lt;$</code>']],
  [
    { anyOf: [{ maxItems: 5, items: { maxLength: 9 } }, { type: 'null' }] },
    ['at most 5 items', 'each at most 9 characters'],
  ],
  [{ maximum: Number.MAX_SAFE_INTEGER }, []],
])('says what %j allows', (schema, limits) => {
  expect(limitsOf(schema)).toEqual(limits);
});

it('marks what a request must have, and what an answer may lack', () => {
  const schema = {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'string' }, b: { type: 'string' } },
  };
  expect(fieldTables(schema, 'request')).toMatch(/<code>a<\/code> <span class="need">required/);
  expect(fieldTables(schema, 'request')).not.toMatch(/<code>b<\/code> <span/);
  expect(fieldTables(schema, 'answer')).toMatch(/<code>b<\/code> <span class="need">may be absent/);
});

it('folds the fields of objects, lists and variants, and names each variant', () => {
  const variant = (name: string) => ({
    type: 'object',
    properties: { type: { const: name }, [name]: { type: 'object', properties: { deep: { type: 'null' } } } },
  });
  const html = fieldTables(
    { properties: { list: { type: 'array', items: { anyOf: [variant('one'), variant('two')] } } } },
    'answer',
  );
  expect(html).toContain('With <code>type</code> <code>one</code>:');
  expect(html).toContain('With <code>type</code> <code>two</code>:');
  expect(html.match(/<details>/g)).toHaveLength(3);
});

it('writes what a schema says as text', () => {
  const html = fieldTables({ properties: { '<b>': { type: 'string', description: '<i> `x`' } } }, 'request');
  expect(html).toContain('<code>&lt;b&gt;</code>');
  expect(html).toContain('&lt;i&gt; <code>x</code>');
});
