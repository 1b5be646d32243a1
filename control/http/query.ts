/** Query values are text; the route's schema gives their types (contract 1.4). */
import type { TSchema } from 'typebox';
import { ApiError, type ErrorItem, errorItem } from '#shared/errors.ts';
import { compiled } from './compiled.ts';
import { ruleText, type SchemaError } from './violations.ts';

/** Reads the query parameters that a schema knows and ignores the others. The schema is compiled for the first query. */
export class QueryCheck {
  readonly #properties: readonly (readonly [name: string, type: unknown])[];
  readonly #schema: TSchema;

  constructor(schema: TSchema) {
    const properties: object = 'properties' in schema && isObject(schema.properties) ? schema.properties : {};
    this.#properties = Object.entries(properties).map(([name, part]: [string, unknown]) => [
      name,
      typeOf(part),
    ]);
    this.#schema = schema;
  }

  /** The query with the schema's types, or its errors. Paths are `?name`. */
  read(query: unknown): { value: Record<string, unknown> } | { errors: ErrorItem[] } {
    const given = isObject(query) ? query : {};
    const value: Record<string, unknown> = {};
    for (const [name, type] of this.#properties) {
      const text: unknown = Reflect.get(given, name);
      if (text !== undefined) value[name] = typeof text === 'string' ? convert(text, type) : text;
    }
    const checker = compiled(this.#schema);
    if (checker.Check(value)) return { value };
    return {
      errors: checker
        .Errors(value)
        .flatMap((error) => this.#translate(error))
        .slice(0, 20),
    };
  }

  #translate(error: SchemaError): ErrorItem[] {
    if (error.keyword === 'required') {
      return error.params.requiredProperties.map((name) => invalid(`?${name}`, 'required'));
    }
    return [invalid(`?${error.instancePath.slice(1)}`, ruleText(this.#schema, error))];
  }
}

function invalid(path: string, rule: string): ErrorItem {
  return errorItem('INVALID_PARAMETER', { path, rule }, `${path}: ${rule}`);
}

/** Text that does not match the type stays text, which the schema then rejects. */
function convert(text: string, type: unknown): unknown {
  if (type === 'integer' && /^-?(0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  if (type === 'number' && /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function typeOf(schema: unknown): unknown {
  return isObject(schema) && 'type' in schema ? schema.type : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const dayMs = 24 * 60 * 60 * 1000;
const dateForm = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const timeForm =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;

/** A span of time in ISO 8601 with milliseconds: `from` inclusive, `to` exclusive. */
export interface TimeSpan {
  readonly from?: string;
  readonly to?: string;
}

/** @throws ApiError INVALID_PARAMETER */
export function readSpan(query: { from_date?: string; to_date?: string }): TimeSpan {
  const { from_date, to_date } = query;
  return {
    ...(from_date !== undefined && { from: readTime(from_date, '?from_date').begins }),
    ...(to_date !== undefined && { to: readTime(to_date, '?to_date').ends }),
  };
}

/** Both ends of what a text means: a moment, or a whole UTC day. */
function readTime(text: string, path: string): { begins: string; ends: string } {
  const isTime = (dateForm.test(text) || timeForm.test(text)) && isDay(text.slice(0, 10));
  const ms = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw ApiError.invalid(path, 'must be a date or an ISO 8601 time with a zone');
  const ends = dateForm.test(text) ? ms + dayMs : ms;
  return { begins: new Date(ms).toISOString(), ends: new Date(ends).toISOString() };
}

/** `Date.parse` accepts February 30 as March 2. */
function isDay(date: string): boolean {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}
