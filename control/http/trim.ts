/**
 * Trims an invalid body to what the listed violations need: explaining takes far longer than checking, and an error
 * repeated a hundred thousand times is listed a few times only.
 */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { counted } from '#shared/counted.ts';
import { isRecord, meantVariant } from './variants.ts';

/** Called for each array of a wrong size. */
export type TooMany = (path: string, rule: string) => void;

/** What the rule of a list says of one that is too long. */
export function mostItems(most: number): string {
  return `must have at most ${counted(most, 'item')}`;
}

type Checker = ReturnType<typeof Compile>;

export class Trimmer {
  readonly #most: number;
  readonly #checkers = new WeakMap<object, Checker>();

  /** @param most how many wrong items of an array, and unknown properties of an object, remain */
  constructor(most: number) {
    this.#most = most;
  }

  /** What remains of `value`: everything removed is valid, or wrong in the same way. Indexes and names are kept. */
  trim(schema: unknown, value: unknown, path: string, tooMany: TooMany): unknown {
    if (!isRecord(schema)) return value;
    if (Array.isArray(schema.anyOf))
      return this.trim(meantVariant(schema.anyOf, value), value, path, tooMany);
    if (Array.isArray(value)) return this.#array(schema, value, path, tooMany);
    if (isRecord(value) && isRecord(schema.properties)) return this.#object(schema, value, path, tooMany);
    return value;
  }

  #array(
    schema: Record<string, unknown>,
    value: readonly unknown[],
    path: string,
    tooMany: TooMany,
  ): unknown[] {
    const { items, maxItems } = schema;
    const most = typeof maxItems === 'number' ? maxItems : Number.POSITIVE_INFINITY;
    if (value.length > most) tooMany(path, mostItems(most));
    if (!isRecord(items)) return value.slice(0, most);
    const checker = this.#checkerOf(items);
    const kept: unknown[] = [];
    for (let index = 0, wrong = 0; index < Math.min(value.length, most) && wrong < this.#most; index++) {
      const item = value[index];
      const isWrong = !checker.Check(item);
      if (isWrong) wrong++;
      kept.push(isWrong ? this.trim(items, item, `${path}/${index}`, tooMany) : item);
    }
    return kept;
  }

  #object(
    schema: Record<string, unknown>,
    value: Record<string, unknown>,
    path: string,
    tooMany: TooMany,
  ): Record<string, unknown> {
    const properties = isRecord(schema.properties) ? schema.properties : {};
    const isClosed = schema.additionalProperties === false;
    const kept: [string, unknown][] = [];
    let unknown = 0;
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(properties, name))
        kept.push([name, this.trim(properties[name], value[name], `${path}/${name}`, tooMany)]);
      else if (!isClosed || unknown++ < this.#most) kept.push([name, value[name]]);
    }
    return Object.fromEntries(kept);
  }

  #checkerOf(schema: Record<string, unknown>): Checker {
    const checker = this.#checkers.get(schema) ?? Compile(schema as TSchema);
    this.#checkers.set(schema, checker);
    return checker;
  }
}
