/** A schema as tables of fields; the fields of a nested object fold. */
import { escaped, sentence } from './markup.ts';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  /** The pattern in words (shared/api/common.ts). */
  readonly 'x-rule'?: string;
}

export function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? value : {};
}

/** Whether fields are given by a caller, who must know which are required, or are in an answer. */
export type Side = 'request' | 'answer';

/** Deeper fields are left to the document for programs; nothing in the API is so deep. */
const deepest = 12;

/** The fields of an object, of the items of a list, or of each variant; empty when there are none. */
export function fieldTables(schema: Schema, side: Side, level = 0): string {
  if (level > deepest) return '';
  const variants = notNull(schema);
  if (variants.length > 1) {
    return variants
      .map((variant) => {
        const table = fieldTables(variant, side, level + 1);
        return table && `<p class="variant">${variantName(variant)}</p>${table}`;
      })
      .join('');
  }
  const [only = schema] = variants;
  if (only.items) return fieldTables(only.items, side, level + 1);
  const parts = only.allOf ?? [only];
  const fields = parts.flatMap((part) =>
    Object.entries(part.properties ?? {}).map(([name, field]) => ({
      name,
      field,
      required: part.required?.includes(name) ?? false,
    })),
  );
  const others = Object.values(only.patternProperties ?? {})[0] ?? anyOthers(only);
  if (fields.length === 0) return others ? fieldTables(others, side, level + 1) : '';
  const rows = fields.map((one) => fieldRow(one, side, level));
  return `<table class="fields"><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>`;
}

interface Field {
  readonly name: string;
  readonly field: Schema;
  readonly required: boolean;
}

function fieldRow({ name, field, required }: Field, side: Side, level: number): string {
  const nested = field.description === sameAsBeside ? '' : fieldTables(field, side, level + 1);
  const need = side === 'request' ? (required ? 'required' : '') : required ? '' : 'may be absent';
  const row = `<tr><th scope="row"><code>${escaped(name)}</code>${need && ` <span class="need">${need}</span>`}</th>
<td class="type">${typeText(field)}</td><td>${meaning(field)}</td></tr>`;
  if (nested === '') return row;
  return `${row}
<tr class="nested"><td colspan="3"><details><summary>Fields of <code>${escaped(name)}</code></summary>${nested}</details></td></tr>`;
}

/** The copy that answers of agent testing have in `data` (shared/api/agent-testing/wrapping.ts). */
const sameAsBeside = 'The same as beside it';

function notNull({ anyOf, oneOf }: Schema): readonly Schema[] {
  return (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
}

function anyOthers({ additionalProperties }: Schema): Schema | null {
  return typeof additionalProperties === 'object' ? additionalProperties : null;
}

/** By the constant that tells variants apart, such as `type`. */
function variantName({ properties = {}, type }: Schema): string {
  const [told] = Object.entries(properties).flatMap(([name, { const: value, enum: values }]) => {
    const only = value ?? (values?.length === 1 ? values[0] : undefined);
    return only === undefined ? [] : [`<code>${escaped(name)}</code> <code>${escaped(String(only))}</code>`];
  });
  return told ? `With ${told}:` : `As ${escaped(String(type ?? 'a value'))}:`;
}

/** Such as `list of texts, or null`. */
export function typeText(schema: Schema): string {
  const either = schema.anyOf ?? schema.oneOf;
  if (either) {
    const names = either.map((one) => (one.type === 'null' ? '<code>null</code>' : typeText(one)));
    return [...new Set(names)].join(' or ');
  }
  if (schema.const !== undefined) return `<code>${escaped(JSON.stringify(schema.const))}</code>`;
  if (schema.enum) return schema.enum.map((one) => `<code>${escaped(String(one))}</code>`).join(', ');
  if (Array.isArray(schema.type)) return schema.type.map((type: string) => typeText({ type })).join(' or ');
  if (schema.type === 'array') return `list of ${typeText(schema.items ?? {})}`;
  return typeNames[String(schema.type)] ?? (schema.allOf ? 'object' : 'any value');
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
  null: '<code>null</code>',
};

/** What it means, then what it may be. */
function meaning(schema: Schema): string {
  const limits = limitsOf(schema);
  return [
    sentence(schema.description ?? ''),
    limits.length > 0 ? `<span class="limits">${limits.join('; ')}</span>` : '',
  ].join(' ');
}

/** @returns markup */
export function limitsOf(schema: Schema): string[] {
  const [only = schema] = notNull(schema);
  const found = [
    ...ownLimits(only),
    ...(only.items ? ownLimits(only.items).map((one) => `each ${one}`) : []),
  ];
  const usual = schema.default ?? only.default;
  if (usual !== undefined) found.push(`default <code>${escaped(JSON.stringify(usual))}</code>`);
  return found;
}

function ownLimits(schema: Schema): string[] {
  const { pattern, 'x-rule': rule, uniqueItems, examples, enum: values } = schema;
  const found = [
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    range(undefined, schema.maxProperties, ' members'),
  ].filter((one) => one !== '');
  if (uniqueItems) found.push('each once');
  if (rule) found.push(escaped(rule));
  else if (pattern) found.push(`of the form <code>${escaped(pattern)}</code>`);
  const [example] = examples ?? [];
  if (example !== undefined && !values) found.push(`such as <code>${escaped(String(example))}</code>`);
  return found;
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const from = least === undefined ? '' : number(least);
  const to = most === undefined || most >= Number.MAX_SAFE_INTEGER ? '' : number(most);
  if (from !== '' && to !== '') return from === to ? `${from}${unit}` : `${from} to ${to}${unit}`;
  if (to !== '') return `at most ${to}${unit}`;
  return from === '' || from === '0' ? '' : `at least ${from}${unit}`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
