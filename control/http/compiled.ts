/** Compiled schema validators, one per schema: servers in one process share them. */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

const checkers = new WeakMap<TSchema, ReturnType<typeof Compile>>();

/** The validator of a schema. */
export function compiled(schema: TSchema): ReturnType<typeof Compile> {
  let checker = checkers.get(schema);
  if (!checker) {
    checker = Compile(schema);
    checkers.set(schema, checker);
  }
  return checker;
}
