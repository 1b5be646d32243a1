import { expect, it } from 'vitest';
import { TrunklineError } from './errors.ts';
import { methodAndPath } from './url.ts';

const name = 'DELETE /v1/personas/{id}/versions/{version}';
const pathOf = (id: string) => methodAndPath(name, { id, version: 1 }).path;

it('leads to the operation that it names, whatever text an id is', () => {
  for (const id of ['a', 'a/b', '../..', '%2e%2e', '..%2f', '?x=1', '#x', 'a b', '...', '\\..\\']) {
    const { pathname } = new URL(pathOf(id), 'http://localhost');
    expect([id, pathname.split('/').length, pathname]).toEqual([
      id,
      6,
      expect.stringMatching(/^\/v1\/personas\/.+\/versions\/1$/),
    ]);
  }
});

it('is not made of an id that a server would read as another place', () => {
  for (const id of ['', '.', '..']) expect(() => pathOf(id)).toThrow(TrunklineError);
  expect(() => methodAndPath(name, { version: 1 })).toThrow('id is "", which is no id');
});
