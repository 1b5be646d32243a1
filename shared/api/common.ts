/** Building blocks of the HTTP contract's schemas (sections 1.2 to 1.5). */
import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { described } from '#shared/described.ts';

const saying = (description: string | undefined) => (description === undefined ? {} : { description });

/** An object that allows no other properties (contract 1.4). */
export const Closed = <T extends TProperties>(properties: T, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...saying(description) });

/** A body that allows no members. */
export const NoMembers = Closed({});

/** @param description of the property, with what null means; else that of the schema */
export const Nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], saying(description ?? descriptionOf(schema)));

const descriptionOf = (schema: object) =>
  'description' in schema && typeof schema.description === 'string' ? schema.description : undefined;

/** Text of `least` to `most` characters; U+0000 is rejected in all texts when the body is read. */
export const Text = (least = 0, most = 10_000, description?: string) =>
  Type.String({ minLength: least, maxLength: most, ...saying(description) });

/** Text used in a line of a protocol: no line breaks or other control characters. */
export const Line = (least: number, most: number, description?: string) =>
  Type.String({
    minLength: least,
    maxLength: most,
    pattern: lineForm,
    [ruleKeyword]: 'one line without control characters',
    ...saying(description),
  });

const lineForm = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/** Keyword with a `pattern` in words; error messages quote it. */
export const ruleKeyword = 'x-rule';

/** Text that matches a pattern. @param rule the pattern in words, as it follows "must be" */
export const Matching = (
  pattern: string,
  rule: string,
  options: { description?: string; maxLength?: number } = {},
) => Type.String({ pattern, [ruleKeyword]: rule, ...options });

export const List = <T extends TSchema>(items: T, least = 0, most = 1000, description?: string) =>
  Type.Array(items, { minItems: least, maxItems: most, ...saying(description) });

export const Integer = (least: number, most: number, description?: string) =>
  Type.Integer({ minimum: least, maximum: most, ...saying(description) });

export const OneOf = <const T extends readonly string[]>(values: T, description?: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...saying(description) });

/** Keyword for a free-form object with limited size and depth (contract 1.4). */
export const openObjectKeyword = 'x-open';

/** A free-form object: at most 64 KiB serialized, at most 10 levels deep. */
export const Open = (description?: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    [openObjectKeyword]: true,
    ...saying(description),
  });

/** A flag in a body, or its string form where the contract allows it (contract 9.1). */
export const BooleanOrText = (description?: string) =>
  Type.Union([Type.Boolean(), Type.Literal('true'), Type.Literal('false')], saying(description));

export const Uuid = (description?: string) =>
  Matching(
    '^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
    'a uuid in lower case',
    saying(description),
  );

export const Email = (description?: string) =>
  Matching(
    '^[^\\s@<>(),;:"\\[\\]]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$',
    'an e-mail address',
    { maxLength: 254, ...saying(description) },
  );

/** ISO 8601 with milliseconds and `Z`. */
export const Iso = (description?: string) =>
  Type.String({ examples: ['2030-01-01T00:00:00.000Z'], ...saying(description) });

/** A phone number as sent; its format is checked after normalization (contract 2.1). */
export const PhoneNumber = (description?: string) =>
  Type.String({ maxLength: 64, examples: ['+14155550100'], ...saying(description) });

/** Beside the data of every success. */
export const NoErrors = () => Type.Null({ description: 'Always null: the request succeeded' });

/** Success body of the plain group. */
export const Plain = <T extends TSchema>(data: T) =>
  Type.Object({ data: described(data, 'The result'), errors: NoErrors() });

export const Success = <T extends TProperties>(
  more: T,
): TObject<{ status: ReturnType<typeof success> } & T> => Type.Object({ status: success(), ...more });

const success = () => Type.Literal('success', { description: 'Always success' });

/** Wraps the data of the plain group. */
export function plain<T>(data: T): { data: T; errors: null } {
  return { data, errors: null };
}

/** Path parameters: not validated by schema, because a malformed id answers 404 of its resource. */
export const PathId = <const K extends string>(name: K, description: string) =>
  Type.Object({ [name]: Type.String({ description }) } as Record<K, ReturnType<typeof Type.String>>);

/** In every list with a cursor (docs/lists.md). @param parameter that takes it */
export const NextPage = (parameter: 'before' | 'after' = 'before') =>
  Nullable(Type.String({ description: `${parameter} of the next page; null: this one is the last` }));

/** Query of a paged list. A page shorter than `limit` is the last. */
export const PageQuery = (most: number, usual: number) =>
  Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: most, default: usual, description: 'Most entries of a page' }),
    ),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        default: 0,
        description: 'How many entries to skip',
      }),
    ),
  });

/** Names the parts of an item that did not fit into the response. */
export const OmittedParts = Type.Optional(
  Type.Array(Type.String(), {
    maxItems: 20,
    description: 'Parts that were left out or cut because the answer would be too large',
  }),
);

/** An item of a list, whose large parts may be left out (control/http/pages.ts). */
export const ListItem = <T extends TProperties>(item: T) =>
  Type.Object({
    ...item,
    omitted: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 20,
        description: 'Parts left out because the item is too large for a list; read the item by its id',
      }),
    ),
  });
