import { expect, it } from 'vitest';
import { RoomyMap } from './roomy-map.ts';

it('holds, finds and forgets entries, and lists them in order', () => {
  const map = new RoomyMap<string, { readonly name: string }>();
  expect([map.size, [...map.values()]]).toEqual([0, []]);
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  map.set('a', a);
  map.set('b', b);
  map.set('c', c);
  map.set('a', c);
  expect([map.size, map.has('b'), map.get('a'), map.get('z')]).toEqual([3, true, c, undefined]);
  expect([map.delete('b'), map.delete('b'), map.has('b')]).toEqual([true, false, false]);
  expect([...map.values()]).toEqual([c, c]);
});

it('lists entries while they are removed', () => {
  const map = new RoomyMap<string, string>();
  for (const name of ['a', 'b', 'c']) map.set(name, name);
  const seen: string[] = [];
  for (const name of map.values()) {
    seen.push(name);
    map.delete(name);
    map.delete('b');
  }
  expect([seen, map.size]).toEqual([['a', 'c'], 0]);
});
