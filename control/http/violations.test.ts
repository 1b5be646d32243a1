import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { Closed, Email, List, Nullable, Text, Uuid } from '#shared/api/common.ts';
import { Attach } from '#shared/api/sip.ts';
import { QueryCheck } from './query.ts';
import { BodyCheck } from './violations.ts';

const listed = (schema: ConstructorParameters<typeof BodyCheck>[0], value: unknown) =>
  new BodyCheck(schema).violations(value).map(({ code, details }) => `${code} ${String(details?.path)}`);

describe('violations', () => {
  const schema = Closed({
    items: List(Type.Union([Closed({ type: Type.Literal('a'), size: Type.Integer() }), Text(1, 5)]), 0, 100),
  });

  it('list a wrong count first, then wrong items, 20 in all', () => {
    const items = Array(200_000).fill({ type: 'a', size: 'x' });
    expect(listed(schema, { items })).toEqual([
      'INVALID_PARAMETER /items',
      ...Array.from({ length: 19 }, (_, index) => `INVALID_PARAMETER /items/${index}/size`),
    ]);
  });

  it('check items past the count for U+0000 only, and explain no more items than are listed', () => {
    let reads = 0;
    const items = new Proxy(Array(200_000).fill({ type: 'a', size: 'x' }), {
      get: (target, name, receiver) => {
        reads++;
        return Reflect.get(target, name, receiver);
      },
    });
    expect(listed(Closed({ items: List(Closed({ size: Type.Integer() }), 0, 100) }), { items })).toHaveLength(
      20,
    );
    expect(reads - items.length).toBeLessThan(200);
  });

  it('keep the index of wrong items between valid ones', () => {
    const items: unknown[] = Array(100).fill('good');
    items[7] = 'too long';
    items[99] = { type: 'a', size: 1, more: 1 };
    expect(listed(schema, { items })).toEqual([
      'INVALID_PARAMETER /items/7',
      'UNKNOWN_PROPERTY /items/99/more',
    ]);
  });

  it('describe the required form of a text, in bodies and queries alike', () => {
    const form = Closed({ mails: List(Email()), id: Type.Optional(Nullable(Uuid())) });
    const body = new BodyCheck(form).violations({ mails: ['nobody'], id: 'x' });
    expect(body.map(({ message }) => message)).toEqual([
      '/mails/0: must be an e-mail address',
      '/id: must be a uuid in lower case',
    ]);
    expect(new QueryCheck(Closed({ id: Uuid() })).read({ id: 'x' })).toEqual({
      errors: [expect.objectContaining({ message: '?id: must be a uuid in lower case' })],
    });
  });

  it('say how long a text or a list may be, with the right plural', () => {
    const form = Closed({ name: Text(1, 5), one: Text(0, 1), items: List(Text(0, 9), 1, 2) });
    const said = (value: unknown) => new BodyCheck(form).violations(value).map(({ message }) => message);
    expect(said({ name: '', one: 'ab', items: [] })).toEqual([
      '/name: must have at least 1 character',
      '/one: must have at most 1 character',
      '/items: must have at least 1 item',
    ]);
    expect(said({ name: 'too long', one: '', items: ['', '', ''] })).toEqual([
      '/items: must have at most 2 items',
      '/name: must have at most 5 characters',
    ]);
  });

  it('list 20 of very many unknown properties', () => {
    const many = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`p${index}`, 1]));
    expect(listed(schema, { items: [], ...many })).toEqual(
      Array.from({ length: 20 }, (_, index) => `UNKNOWN_PROPERTY /p${index}`),
    );
  });

  it('point into the union member that its type names, even when another constant is wrong', () => {
    const headers = {
      direction: 'outbound',
      headers: [{ type: 'uui', target: 'a', encoding: 'base64', content: 'b' }],
    };
    const body = { phone_number: '+14155550100', directions: [{ type: 'outbound', headers }] };
    expect(listed(Attach, body)).toEqual(['INVALID_PARAMETER /directions/0/headers/headers/0/encoding']);
  });

  it('name texts and properties with U+0000', () => {
    expect(listed(schema, { items: ['a\u0000'] })).toEqual(['INVALID_PARAMETER /items/0']);
  });
});
