/** JSON that somebody writes into a field. Pure. */
import { isObject, type JsonObject } from '#shared/agent/graph-problem.ts';
import { pageProblem, RequestFailed } from '../../api/problem.ts';
import { tools } from '../../text/tools.ts';

function failed(message: string): RequestFailed {
  return new RequestFailed(pageProblem('NOT_JSON', message, tools.notJsonHelps));
}

/** null: the field is empty. @throws RequestFailed which field is wrong, and where */
function jsonOf(field: string, text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw failed(tools.notJson(field, error instanceof Error ? error.message : String(error)));
  }
}

/** @throws RequestFailed as {@link jsonOf}, and for what is no object */
export function objectOf(field: string, text: string): JsonObject | null {
  const value = jsonOf(field, text);
  if (value === null || isObject(value)) return value;
  throw failed(tools.notObject(field));
}

export interface TakenValue {
  readonly name: string;
  readonly data: string;
}

/** A list of `{ name, data }`; what each must be more exactly, the API says. @throws RequestFailed */
export function valuesOf(field: string, text: string): TakenValue[] | null {
  const value = jsonOf(field, text);
  if (value === null) return null;
  if (Array.isArray(value) && value.every(isTaken)) return value;
  throw failed(tools.notValues(field));
}

function isTaken(value: unknown): value is TakenValue {
  return isObject(value) && typeof value.name === 'string' && typeof value.data === 'string';
}

/** As a field shows it; a text stays as it is. */
export function written(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Inputs to try a tool with: each property of the schema, with a value of its type to be replaced. */
export function exampleInputs(schema: JsonObject | null): string {
  const properties = schema && isObject(schema.properties) ? schema.properties : {};
  const entries = Object.entries(properties).map(([name, one]) => [name, exampleOf(one)]);
  return written(Object.fromEntries(entries));
}

function exampleOf(schema: unknown): unknown {
  if (!isObject(schema)) return '';
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'number':
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return '';
  }
}
