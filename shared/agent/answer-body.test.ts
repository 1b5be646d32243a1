import { expect, it } from 'vitest';
import { parsedBody } from './answer-body.ts';

it('reads JSON, and keeps other text unchanged', () => {
  expect(parsedBody('{"a":[1,"]"]}')).toEqual({ a: [1, ']'] });
  expect(parsedBody('plain [[')).toBe('plain [[');
  expect(parsedBody('')).toBe('');
});

it.each([
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
])('keeps %s nested deeper than 100 as text', (_name, open, close) => {
  const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
  expect(parsedBody(nested(100))).toEqual(JSON.parse(nested(100)));
  expect(parsedBody(nested(101))).toBe(nested(101));
  expect(parsedBody(nested(200_000))).toBe(nested(200_000));
});

it('does not count brackets in strings', () => {
  const text = JSON.stringify(['['.repeat(200), `"\\${'{'.repeat(200)}`]);
  expect(parsedBody(text)).toEqual(JSON.parse(text));
});
