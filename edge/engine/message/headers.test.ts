import { expect, test } from 'vitest';
import { COMPACT_FORMS, HeaderList, headerKey } from './headers.ts';

function lines(headers: HeaderList): string[] {
  return Array.from({ length: headers.length }, (_, i) => `${headers.nameAt(i)}: ${headers.valueAt(i)}`);
}

function sample(): HeaderList {
  return new HeaderList([
    ['v', 'one'],
    ['To', 'bob'],
    ['VIA', 'two'],
    ['X-Note', 'n'],
  ]);
}

test('finds a header by its long name, in any form and case', () => {
  const headers = sample();
  expect(headers.get('via')).toBe('one');
  expect(headers.all('via')).toEqual(['one', 'two']);
  expect(headers.has('x-note')).toBe(true);
  expect(headers.get('from')).toBeUndefined();
  expect(headers.all('from')).toEqual([]);
});

test('recognizes each compact form in both cases', () => {
  for (const [short, long] of COMPACT_FORMS) {
    expect(headerKey(short)).toBe(long);
    expect(headerKey(short.toUpperCase())).toBe(long);
  }
  expect(headerKey('z')).toBe('z');
});

test('set replaces the first line and removes the others', () => {
  const headers = sample();
  headers.set('Via', 'three');
  expect(lines(headers)).toEqual(['Via: three', 'To: bob', 'X-Note: n']);
  headers.set('From', 'alice');
  expect(lines(headers)).toEqual(['Via: three', 'To: bob', 'X-Note: n', 'From: alice']);
});

test('replaceFirst keeps the spelling of the name and the other lines', () => {
  const headers = sample();
  headers.replaceFirst('via', 'three');
  headers.replaceFirst('Subject', 'hello');
  expect(lines(headers)).toEqual(['v: three', 'To: bob', 'VIA: two', 'X-Note: n', 'Subject: hello']);
});

test('prepend, append, remove and removeFirst act on the written order', () => {
  const headers = sample();
  headers.prepend('Via', 'zero');
  headers.append('Via', 'last');
  headers.removeFirst('v');
  expect(headers.all('via')).toEqual(['one', 'two', 'last']);
  headers.remove('via');
  headers.removeFirst('via');
  expect(lines(headers)).toEqual(['To: bob', 'X-Note: n']);
});

test('a clone has its own lines', () => {
  const headers = sample();
  const copy = headers.clone();
  copy.set('To', 'carol');
  copy.remove('via');
  expect(headers.get('to')).toBe('bob');
  expect(lines(headers)).toHaveLength(4);
});

test.each(['a\r\nX-Evil: 1', 'a\nb', 'a\rb'])('rejects a value with a line break: %j', (value) => {
  const headers = sample();
  expect(() => headers.set('To', value)).toThrow(TypeError);
  expect(() => headers.append('Subject', value)).toThrow(TypeError);
  expect(() => headers.prepend('Via', value)).toThrow(TypeError);
  expect(() => headers.replaceFirst('To', value)).toThrow(TypeError);
  expect(lines(headers)).toEqual(lines(sample()));
});
