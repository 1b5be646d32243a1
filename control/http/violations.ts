/** Turns schema violations into the errors of contract 1.3. */

import type { TSchema } from 'typebox';
import type { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { openObjectKeyword, ruleKeyword } from '#shared/api/common.ts';
import { counted } from '#shared/counted.ts';
import { type ErrorItem, errorItem } from '#shared/errors.ts';
import { valueAtPointer } from '#shared/json-pointer.ts';
import { compiled } from './compiled.ts';
import { mostItems, Trimmer } from './trim.ts';
import { discriminator, isRecord, meantVariant, unionRule } from './variants.ts';

export type SchemaError = ReturnType<ReturnType<typeof Compile>['Errors']>[number];

/** "must be integer", "must be one of tls", "must have at least 1 character", "must be an e-mail address". */
export function ruleText(schema: TSchema, error: SchemaError): string {
  if (error.keyword === 'enum') return `must be one of ${error.params.allowedValues.map(String).join(', ')}`;
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params.allowedValue)}`;
  if (error.keyword === 'pattern') {
    const form = valueAtPointer(schema, `${error.schemaPath.slice(1)}/${ruleKeyword}`);
    if (typeof form === 'string') return `must be ${form}`;
  }
  if (error.keyword === 'minLength') return `must have at least ${counted(error.params.limit, 'character')}`;
  if (error.keyword === 'maxLength') return `must have at most ${counted(error.params.limit, 'character')}`;
  if (error.keyword === 'minItems') return `must have at least ${counted(error.params.limit, 'item')}`;
  if (error.keyword === 'maxItems') return mostItems(error.params.limit);
  return error.message;
}

/** Most violations listed. */
const mostListed = 20;
const mostOpenBytes = 65_536;
const mostOpenDepth = 10;

/** One more than is listed, so that the list is full when there are more. */
const trimmer = new Trimmer(mostListed + 1);

/** Union members use up most errors, and the relevant ones come last. */
Settings.Set({ maxErrors: 10_000 });

/** A schema that reports every violation of a value; it is compiled for the first one, not at the start. */
export class BodyCheck {
  readonly #schema: TSchema;
  readonly #variants = new Map<object, BodyCheck>();
  #hasOpenParts: boolean | null = null;

  constructor(schema: TSchema) {
    this.#schema = schema;
  }

  /** The violations of a body, empty if there are none. Paths are JSON pointers. */
  violations(body: unknown): ErrorItem[] {
    const found: ErrorItem[] = [];
    if (holdsNul(body)) findNul(body, '', found);
    if (compiled(this.#schema).Check(body)) {
      this.#hasOpenParts ??= JSON.stringify(this.#schema).includes(`"${openObjectKeyword}"`);
      if (this.#hasOpenParts) checkOpenParts(this.#schema, body, '', found);
      return found.slice(0, mostListed);
    }
    const part = trimmer.trim(this.#schema, body, '', (path, text) => found.push(invalid(path, text)));
    return [...found, ...this.#explain(part, '', mostListed - found.length)].slice(0, mostListed);
  }

  /** The violations of the part of a body at `prefix`. */
  #explain(value: unknown, prefix: string, most: number): ErrorItem[] {
    const found: ErrorItem[] = [];
    const errors = compiled(this.#schema).Errors(value);
    const unions = new Set(
      errors.filter(({ keyword }) => keyword === 'anyOf').map(({ schemaPath }) => schemaPath),
    );
    for (const error of errors) {
      if (found.length >= most) break;
      // Errors of union members help only for the member that was meant.
      if (!isWithin(error.schemaPath, unions)) found.push(...this.#translate(error, value, prefix));
    }
    return found;
  }

  #translate(error: SchemaError, value: unknown, prefix: string): ErrorItem[] {
    const path = prefix + error.instancePath;
    switch (error.keyword) {
      case 'boolean':
        return [];
      case 'additionalProperties':
        return error.params.additionalProperties.map((name) =>
          unknownProperty(`${path}/${pointerPart(name)}`),
        );
      case 'required':
        return error.params.requiredProperties.map((name) =>
          invalid(`${path}/${pointerPart(name)}`, 'required'),
        );
      case 'anyOf':
        return this.#translateUnion(error, value, prefix);
      default:
        return [invalid(path, ruleText(this.#schema, error))];
    }
  }

  #translateUnion(error: SchemaError, value: unknown, prefix: string): ErrorItem[] {
    const union = valueAtPointer(this.#schema, error.schemaPath.slice(1));
    const part = valueAtPointer(value, error.instancePath);
    const variants = isRecord(union) && Array.isArray(union.anyOf) ? union.anyOf : [];
    const meant = meantVariant(variants, part);
    if (!meant) return [notOfUnion(prefix + error.instancePath, variants, part)];
    const check = this.#variants.get(meant) ?? new BodyCheck(meant);
    this.#variants.set(meant, check);
    const path = prefix + error.instancePath;
    return check.#explain(part, path, mostListed);
  }
}

/** An object of an unknown kind is rejected at its discriminator, anything else as a whole. */
function notOfUnion(path: string, variants: readonly unknown[], value: unknown): ErrorItem {
  const kind = isRecord(value) ? discriminator(variants) : null;
  if (!kind || !isRecord(value) || kind.values.includes(value[kind.name])) {
    return invalid(path, unionRule(variants));
  }
  const at = `${path}/${pointerPart(kind.name)}`;
  if (!(kind.name in value)) return invalid(at, 'required');
  return invalid(at, `must be ${kind.values.map((one) => JSON.stringify(one)).join(' or ')}`);
}

/** Whether a schema path leads into a member of one of the unions. */
function isWithin(schemaPath: string, unions: ReadonlySet<string>): boolean {
  const into = '/anyOf/';
  for (let at = schemaPath.indexOf(into); at >= 0; at = schemaPath.indexOf(into, at + 1)) {
    if (unions.has(schemaPath.slice(0, at))) return true;
  }
  return false;
}

function invalid(path: string, text: string): ErrorItem {
  return errorItem('INVALID_PARAMETER', { path, rule: text }, `${path || 'body'}: ${text}`);
}

function unknownProperty(path: string): ErrorItem {
  return errorItem('UNKNOWN_PROPERTY', { path }, `${path}: not a known property`);
}

/** Escapes one member of a JSON pointer (RFC 6901 section 3). */
function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\u0000');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, part]) => name.includes('\u0000') || holdsNul(part));
}

/** Texts with U+0000 are rejected everywhere, including property names (contract 1.4). */
function findNul(value: unknown, path: string, found: ErrorItem[]): void {
  if (typeof value === 'string') {
    if (value.includes('\u0000')) found.push(invalid(path, 'must not contain U+0000'));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const partPath = `${path}/${pointerPart(name)}`;
    if (name.includes('\u0000')) found.push(invalid(path, 'property names must not contain U+0000'));
    findNul(part, partPath, found);
    if (found.length >= mostListed) return;
  }
}

/** Walks schema and value together to the free-form objects and checks their size and depth. */
function checkOpenParts(schema: unknown, value: unknown, path: string, found: ErrorItem[]): void {
  if (!isRecord(schema) || value === undefined || value === null) return;
  if (schema[openObjectKeyword] === true) checkOpenObject(value, path, found);
  if (Array.isArray(schema.anyOf)) {
    checkOpenParts(meantVariant(schema.anyOf, value), value, path, found);
  }
  if (isRecord(schema.properties) && isRecord(value)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      checkOpenParts(property, value[name], `${path}/${pointerPart(name)}`, found);
    }
  }
  if (Array.isArray(value)) {
    value.forEach((item: unknown, index) => {
      checkOpenParts(schema.items, item, `${path}/${index}`, found);
    });
  }
}

function checkOpenObject(value: unknown, path: string, found: ErrorItem[]): void {
  if (Buffer.byteLength(JSON.stringify(value)) > mostOpenBytes) {
    found.push(invalid(path, `must be at most ${mostOpenBytes} bytes of JSON`));
  } else if (isDeeper(value, mostOpenDepth)) {
    found.push(invalid(path, `must be at most ${mostOpenDepth} levels deep`));
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
