/** Values for property tests from JSON schemas: mostly valid, sometimes anything. */
import fc from 'fast-check';
import { anyCharacter } from '../any-character.ts';

type Schema = Readonly<Record<string, unknown>>;
type Values = fc.Arbitrary<unknown>;

/** Texts with a meaning for the receiver, such as ids, by a part of the property's name; `''` for any. */
export type Words = readonly (readonly [name: string, words: readonly string[]])[];

function allOf(words: Words): string[] {
  return words.flatMap(([, some]) => some);
}

/** Made once: each of them takes longer to make than many values of it. */
const anyText = fc.string({ unit: anyCharacter });
const key = fc.string();

/** Any JSON, mixed with texts that have a meaning. */
function anyJson(words: Words): Values {
  const texts = allOf(words);
  const leaf = fc.oneof(
    fc.constantFrom<unknown>(...texts, null, true, false, 0, -1, 1, 5061, 1e21, '', '\u0000', '********'),
    anyText,
    fc.double(),
    fc.integer(),
  );
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...texts), key), tie('value'), { maxKeys: 6 }),
    ),
  })).value;
}

/** Bodies: valid ones, an example with one member changed, and anything. */
export function bodiesOf(schema: object, example: Schema, words: Words): Values {
  const maker = new FromSchema(words);
  const properties = 'properties' in schema && isSchema(schema.properties) ? schema.properties : {};
  const altered = Object.entries(properties).map(([name, part]) =>
    maker.values(part, name).map((value) => ({ ...example, [name]: value })),
  );
  return fc.oneof(
    { weight: 6, arbitrary: maker.values(schema, '') },
    { weight: 6, arbitrary: altered.length > 0 ? fc.oneof(...altered) : fc.constant(example) },
    { weight: 1, arbitrary: anyJson(words) },
  );
}

class FromSchema {
  readonly #words: Words;
  readonly #any: Values;

  constructor(words: Words) {
    this.#words = words;
    this.#any = anyJson(words);
  }

  /** @param name of the property */
  values(schema: unknown, name: string): Values {
    if (!isSchema(schema)) return this.#any;
    const meant = { weight: 60, arbitrary: this.#meant(schema, name) };
    return fc.oneof(meant, { weight: 1, arbitrary: this.#any });
  }

  #meant(schema: Schema, name: string): Values {
    if ('const' in schema) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    const variants = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(variants)) return fc.oneof(...variants.map((part) => this.values(part, name)));
    switch (schema.type) {
      case 'object':
        return this.#objects(schema);
      case 'array':
        return fc.array(this.values(schema.items, name), {
          minLength: bound(schema.minItems, 0),
          maxLength: 3,
        });
      case 'string':
        return this.#texts(schema, name);
      case 'integer':
      case 'number':
        return fc.integer({ min: bound(schema.minimum, 0), max: bound(schema.maximum, 70_000) });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      default:
        return this.#any;
    }
  }

  #objects({ properties, required }: Schema): Values {
    if (!isSchema(properties)) return fc.dictionary(key, this.#any, { maxKeys: 4 });
    const parts = Object.entries(properties).map(([name, part]) => [name, this.values(part, name)] as const);
    const requiredKeys = Array.isArray(required) ? required.map(String) : [];
    return fc.record(Object.fromEntries(parts), { requiredKeys });
  }

  #texts({ pattern, minLength, maxLength }: Schema, name: string): Values {
    const fitting = this.#words
      .filter(([part]) => part !== '' && name.includes(part))
      .flatMap(([, some]) => some);
    const form = typeof pattern === 'string' ? new RegExp(pattern, 'u') : null;
    const texts = form ? allOf(this.#words).filter((text) => form.test(text)) : allOf(this.#words);
    const length = { minLength: bound(minLength, 0), maxLength: Math.min(bound(maxLength, 60), 60) };
    return fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...(fitting.length > 0 ? fitting : texts), 'text') },
      { weight: 1, arbitrary: fc.string({ ...length, unit: 'grapheme' }) },
    );
  }
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : otherwise;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
