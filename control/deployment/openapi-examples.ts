/** Example values generated from schemas, so that each operation shows a body without a handwritten one. */

type Schema = Readonly<Record<string, unknown>>;

/** Which members of objects an example has: required ones in requests, all in responses. */
export type Members = 'required' | 'all';

/** Tried in this order for texts with a pattern. */
const texts: readonly string[] = [
  '3f2b8c1e-5d4a-4b6f-9c7e-1a2b3c4d5e6f',
  'text',
  'name@example.com',
  '+14155550100',
  '2030-01-01T00:00:00.000Z',
  '2030-01-01',
  'https://example.com/path',
  'wss://example.com/path',
  '1',
  '0000',
  '1234#',
  '12345',
  'CA',
];

/** A value that matches the schema, as far as its keywords are supported here. */
export function exampleOf(schema: unknown, members: Members): unknown {
  if (!isSchema(schema)) return {};
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if ('default' in schema) return schema.default;
  const variants = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(variants)) return exampleOf(variants.find(isNotNull) ?? variants[0], members);
  if (Array.isArray(schema.allOf)) {
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, members)));
  }
  switch (schema.type) {
    case 'object':
      return objectExample(schema, members);
    case 'array':
      return arrayExample(schema, members);
    case 'string':
      return textExample(schema);
    case 'integer':
    case 'number':
      return numberExample(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return {};
  }
}

function objectExample({ properties, required }: Schema, members: Members): Record<string, unknown> {
  if (!isSchema(properties)) return {};
  const names = Array.isArray(required) ? required : [];
  const shown = Object.entries(properties).filter(([name]) => members === 'all' || names.includes(name));
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, members)]));
}

function arrayExample({ items, minItems, maxItems }: Schema, members: Members): unknown[] {
  if (maxItems === 0) return [];
  const count = typeof minItems === 'number' ? Math.max(1, minItems) : 1;
  return Array.from({ length: count }, () => exampleOf(items, members));
}

function textExample({ pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema): string {
  const form = typeof pattern === 'string' ? new RegExp(pattern, 'u') : null;
  if (form) return texts.find((text) => form.test(text)) ?? '';
  const text = 'text'.padEnd(Number(minLength), 'x');
  return text.length > Number(maxLength) ? text.slice(0, Number(maxLength)) : text;
}

function numberExample({ minimum, exclusiveMinimum, maximum }: Schema): number {
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : Number(minimum ?? 1);
  return typeof maximum === 'number' ? Math.min(Math.max(least, 1), maximum) : Math.max(least, 1);
}

function isNotNull(schema: unknown): boolean {
  return isSchema(schema) && schema.type !== 'null';
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
