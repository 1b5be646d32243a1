/** Turns what a schema finds wrong with a value into the errors of contract 1.3. */
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { openObjectKeyword } from '#shared/api/common.ts';
import { type ErrorItem, errorItem } from '#shared/errors.ts';

/** At most this many violations are listed. */
const mostListed = 20;
const mostOpenBytes = 65_536;
const mostOpenDepth = 10;

/** The members of unions use up most errors, and those that matter come last. */
Settings.Set({ maxErrors: 10_000 });

type Checker = ReturnType<typeof Compile>;
type SchemaError = ReturnType<Checker['Errors']>[number];

/** A compiled schema that says everything that is wrong with a value. */
export class BodyCheck {
  readonly #schema: TSchema;
  readonly #checker: Checker;
  readonly #variants = new Map<object, BodyCheck>();
  readonly #hasOpenParts: boolean;

  constructor(schema: TSchema) {
    this.#schema = schema;
    this.#checker = Compile(schema);
    this.#hasOpenParts = JSON.stringify(schema).includes(`"${openObjectKeyword}"`);
  }

  /** All violations of `value`, empty when there is none. Paths are JSON pointers that start with `prefix`. */
  violations(value: unknown, prefix = ''): ErrorItem[] {
    const found: ErrorItem[] = [];
    if (prefix === '') findNul(value, '', found);
    if (!this.#checker.Check(value)) this.#explain(value, prefix, found);
    else if (this.#hasOpenParts) checkOpenParts(this.#schema, value, prefix, found);
    return found.slice(0, mostListed);
  }

  #explain(value: unknown, prefix: string, found: ErrorItem[]): void {
    const errors = this.#checker.Errors(value);
    const unions = errors.filter((error) => error.keyword === 'anyOf');
    for (const error of errors) {
      // What the members of a union say is only of use for the one member that was meant.
      if (unions.some((union) => error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`))) continue;
      found.push(...this.#translate(error, value, prefix));
    }
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
        return [invalid(path, rule(error))];
    }
  }

  #translateUnion(error: SchemaError, value: unknown, prefix: string): ErrorItem[] {
    const union = resolvePointer(this.#schema, error.schemaPath.slice(1));
    const part = resolvePointer(value, error.instancePath);
    const variants = isRecord(union) && Array.isArray(union.anyOf) ? union.anyOf : [];
    const meant = meantVariant(variants, part);
    if (!meant) return [invalid(prefix + error.instancePath, unionRule(variants))];
    const check = this.#variants.get(meant) ?? new BodyCheck(meant);
    this.#variants.set(meant, check);
    return check.violations(part, prefix + error.instancePath);
  }
}

function invalid(path: string, text: string): ErrorItem {
  return errorItem('INVALID_PARAMETER', { path, rule: text }, `${path || 'body'}: ${text}`);
}

function unknownProperty(path: string): ErrorItem {
  return errorItem('UNKNOWN_PROPERTY', { path }, `${path}: not a known property`);
}

/** The rule that was broken, as text: "must be integer", "must be one of tls". */
function rule(error: SchemaError): string {
  if (error.keyword === 'enum') return `must be one of ${error.params.allowedValues.map(String).join(', ')}`;
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params.allowedValue)}`;
  return error.message;
}

/**
 * The member of a union that the sender had in mind: the object whose constant members (such as `type`) agree,
 * else the only member of the value's JSON type.
 */
function meantVariant(variants: readonly unknown[], value: unknown): TSchema | undefined {
  const schemas = flattened(variants);
  if (!isRecord(value)) {
    const sameType = schemas.filter((schema) => isOfType(value, schema.type) && !('const' in schema));
    return sameType.length === 1 ? sameType[0] : undefined;
  }
  const objects = schemas.filter((schema) => schema.type === 'object');
  const agreeing = objects.filter((schema) => constantsAgree(schema, value));
  const chosen = agreeing.length === 1 ? agreeing : objects;
  return chosen.length === 1 ? chosen[0] : undefined;
}

/** The members of a union, those of unions in it included. */
function flattened(variants: readonly unknown[]): Record<string, unknown>[] {
  return variants
    .filter(isRecord)
    .flatMap((schema) => (Array.isArray(schema.anyOf) ? flattened(schema.anyOf) : [schema]));
}

function isOfType(value: unknown, type: unknown): boolean {
  return type === jsonType(value) || (type === 'integer' && Number.isInteger(value));
}

function constantsAgree(schema: Record<string, unknown>, value: Record<string, unknown>): boolean {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return Object.entries(properties).every(
    ([name, property]) => !isRecord(property) || !('const' in property) || property.const === value[name],
  );
}

function unionRule(variants: readonly unknown[]): string {
  const names = flattened(variants).map((schema) => {
    const kind = isRecord(schema.properties) ? schema.properties.type : undefined;
    if ('const' in schema) return JSON.stringify(schema.const);
    return isRecord(kind) && 'const' in kind
      ? `an object of type ${JSON.stringify(kind.const)}`
      : schema.type;
  });
  return `must be ${[...new Set(names)].join(' or ')}`;
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Escapes one member of a JSON pointer (RFC 6901 section 3). */
function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function resolvePointer(root: unknown, pointer: string): unknown {
  let part: unknown = root;
  for (const name of pointer.split('/').slice(1)) {
    if (typeof part !== 'object' || part === null) return undefined;
    part = Reflect.get(part, name.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return part;
}

/** Texts with U+0000 are refused everywhere, names of properties included (contract 1.4). */
function findNul(value: unknown, path: string, found: ErrorItem[]): void {
  if (typeof value === 'string') {
    if (value.includes('\u0000')) found.push(invalid(path, 'must not hold U+0000'));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const partPath = `${path}/${pointerPart(name)}`;
    if (name.includes('\u0000')) found.push(invalid(path, 'property names must not hold U+0000'));
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
