import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  fits,
  flag,
  integer,
  listOf,
  name,
  number,
  objectOf,
  oneOf,
  orNull,
  positive,
  recordOf,
  type Shape,
  type Shaped,
  text,
} from './shapes.ts';

const person = objectOf({ id: integer(1, 9), name: orNull(name) }, { tags: listOf(text) });

describe('a shape', () => {
  it.each<[string, Shape<unknown>, unknown]>([
    ['a text', text, ''],
    ['a number', number, -0.5],
    ['an integer', integer(), -3],
    ['a flag', flag, false],
    ['a choice', oneOf('a', 'b'), 'b'],
    ['null instead', orNull(text), null],
    ['an empty list', listOf(text), []],
    ['any names', recordOf(integer()), { toString: 1 }],
    ['an object', person, { id: 9, name: 'n' }],
    ['optional properties', person, { id: 1, name: null, tags: ['a'] }],
    ['more properties, if open', objectOf({ a: text }, {}, true), { a: '', b: 1 }],
  ])('accepts %s', (_, shape, value) => {
    expect(shape.fault(value)).toBeNull();
    expect(fits(shape, value)).toBe(true);
  });

  it.each<[Shape<unknown>, unknown, string, string]>([
    [text, 1, '', 'must be string'],
    [name, '', '', 'must not be empty'],
    [number, Number.NaN, '', 'must be number'],
    [number, '1', '', 'must be number'],
    [positive, 0, '', 'must be > 0'],
    [integer(), 1.5, '', 'must be integer'],
    [integer(0, 65_535), 65_536, '', 'must be integer from 0 to 65535'],
    [oneOf('a', 'b'), 'toString', '', 'must be one of a, b'],
    [listOf(text), {}, '', 'must be array'],
    [listOf(text), ['a', null], '/1', 'must be string'],
    [recordOf(listOf(text)), { a: [], b: [1] }, '/b/0', 'must be string'],
    [recordOf(text), [], '', 'must be object'],
    [person, null, '', 'must be object'],
    [person, [], '', 'must be object'],
    [person, { name: null }, '', 'must have required properties id'],
    [person, { id: 0, name: null }, '/id', 'must be integer from 1 to 9'],
    [person, { id: 1, name: null, tags: undefined }, '/tags', 'must be array'],
    [person, { id: 1, name: null, __proto__x: 1 }, '/__proto__x', 'unknown setting'],
    [person, JSON.parse('{"id":1,"name":null,"__proto__":{}}'), '/__proto__', 'unknown setting'],
  ])('says where a value differs, and how (%#)', (shape, value, at, what) => {
    expect(shape.fault(value)).toEqual({ at, what });
    expect(fits(shape, value)).toBe(false);
  });

  it('has the type of its values', () => {
    expectTypeOf<Shaped<typeof person>>().toExtend<{
      readonly id: number;
      readonly name: string | null;
      readonly tags?: readonly string[];
    }>();
  });
});
