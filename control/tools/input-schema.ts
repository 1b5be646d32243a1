/**
 * The parameter schema of a tool: a JSON Schema as accepted by models that call functions, with root type object
 * (contract 8.1). It is validated before any value is checked against it.
 */
import { isObject } from '#shared/agent/graph-problem.ts';
import { patternProblem } from './linear-patterns.ts';
import { pointerPart } from './template.ts';

export interface SchemaProblem {
  readonly path: string;
  readonly rule: string;
}

const mostDepth = 10;
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

type Check = (value: unknown, path: string, walk: Walk) => void;
const whole: Check = (value, path, walk) => {
  if (!Number.isInteger(value) || Number(value) < 0) walk.add(path, 'must be a whole number from 0');
};
const numeric: Check = (value, path, walk) => {
  if (typeof value !== 'number') walk.add(path, 'must be a number');
};
const text: Check = (value, path, walk) => {
  if (typeof value !== 'string') walk.add(path, 'must be a text');
};
const flag: Check = (value, path, walk) => {
  if (typeof value !== 'boolean') walk.add(path, 'must be true or false');
};
const expression: Check = (value, path, walk) => {
  const problem = typeof value === 'string' ? patternProblem(value) : 'must be a regular expression';
  if (problem !== null) walk.add(path, problem);
};
const schema: Check = (value, path, walk) => walk.schema(value, path);
const schemaMap: Check = (value, path, walk) => {
  if (!isObject(value)) {
    walk.add(path, 'must be an object of schemas');
    return;
  }
  for (const [name, part] of Object.entries(value)) walk.schema(part, `${path}/${pointerPart(name)}`);
};
const schemaList: Check = (value, path, walk) => {
  if (!Array.isArray(value) || value.length === 0) {
    walk.add(path, 'must be a list of schemas');
    return;
  }
  value.forEach((part: unknown, index) => {
    walk.schema(part, `${path}/${index}`);
  });
};
const names: Check = (value, path, walk) => {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string'))
    walk.add(path, 'must be a list of property names');
};

/** JSON Schema 2020-12 sections 10 (applicators) and validation section 6; unknown keywords are ignored. */
const keywords = new Map<string, Check>(
  Object.entries({
    type: (value, path, walk) => {
      const all: unknown[] = Array.isArray(value) ? value : [value];
      if (all.length === 0 || !all.every((one) => types.includes(String(one))))
        walk.add(path, `must be of: ${types.join(', ')}`);
    },
    properties: schemaMap,
    required: names,
    enum: (value, path, walk) => {
      if (!Array.isArray(value) || value.length === 0) walk.add(path, 'must be a list of values');
    },
    items: schema,
    prefixItems: schemaList,
    contains: schema,
    additionalProperties: schema,
    propertyNames: schema,
    patternProperties: (value, path, walk) => {
      schemaMap(value, path, walk);
      if (!isObject(value)) return;
      for (const name of Object.keys(value)) expression(name, `${path}/${pointerPart(name)}`, walk);
    },
    allOf: schemaList,
    anyOf: schemaList,
    oneOf: schemaList,
    not: schema,
    if: schema,
    else: schema,
    minLength: whole,
    maxLength: whole,
    minItems: whole,
    maxItems: whole,
    minProperties: whole,
    maxProperties: whole,
    minimum: numeric,
    maximum: numeric,
    exclusiveMinimum: numeric,
    exclusiveMaximum: numeric,
    multipleOf: (value, path, walk) => {
      if (typeof value !== 'number' || value <= 0) walk.add(path, 'must be a number above 0');
    },
    pattern: expression,
    format: text,
    title: text,
    description: text,
    uniqueItems: flag,
    $defs: schemaMap,
    definitions: schemaMap,
    $ref: (value, path, walk) => walk.reference(value, path),
  }),
).set('then', schema);

/** Keywords whose schemas apply to the same value as the containing schema. */
const inPlace = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];

/** Keywords that would let a schema reference others by anything but their location. */
const refused = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef'];

/** All problems of a parameter schema; empty when it is valid. Paths begin with `/input_schema`. */
export function schemaProblems(root: Record<string, unknown>): readonly SchemaProblem[] {
  const walk = new Walk(root);
  if (isDeeper(root, mostDepth)) {
    walk.add('/input_schema', `must be at most ${mostDepth} levels deep`);
    return walk.problems;
  }
  if (root.type !== 'object') walk.add('/input_schema/type', 'must be "object"');
  walk.schema(root, '/input_schema');
  const { properties } = root;
  const known = isObject(properties) ? properties : {};
  const required: unknown[] = Array.isArray(root.required) ? root.required : [];
  for (const name of required) {
    if (typeof name === 'string' && !Object.hasOwn(known, name))
      walk.add('/input_schema/required', `lists "${name}", which is not in properties`);
  }
  if (walk.problems.length === 0) walk.loops();
  return walk.problems;
}

class Walk {
  readonly problems: SchemaProblem[] = [];
  readonly #root: Record<string, unknown>;
  readonly #seen = new Map<unknown, string>();

  constructor(root: Record<string, unknown>) {
    this.#root = root;
  }

  add(path: string, rule: string): void {
    this.problems.push({ path, rule });
  }

  schema(value: unknown, path: string): void {
    if (typeof value === 'boolean' && path !== '/input_schema') return;
    if (!isObject(value)) {
      this.add(path, 'must be a schema: an object');
      return;
    }
    this.#seen.set(value, path);
    for (const [word, part] of Object.entries(value)) {
      const below = `${path}/${pointerPart(word)}`;
      keywords.get(word)?.(part, below, this);
      if (refused.includes(word)) this.add(below, 'is not supported');
    }
  }

  reference(value: unknown, path: string): void {
    if (typeof value !== 'string' || !/^#(?:\/|$)/.test(value)) {
      this.add(path, 'must be a local reference such as #/$defs/name');
      return;
    }
    if (!isObject(this.#target(value))) this.add(path, 'must lead to a schema');
  }

  /** Finds schemas that reference themselves for the same value: checking one would never end. */
  loops(): void {
    for (const [schema, path] of this.#seen) {
      if (this.#leadsTo(schema, new Set())) {
        this.add(path, 'must not refer to itself for the same value');
        return;
      }
    }
  }

  #leadsTo(schema: unknown, above: ReadonlySet<unknown>): boolean {
    if (!isObject(schema)) return false;
    if (above.has(schema)) return true;
    const around = new Set(above).add(schema);
    const below: unknown[] = inPlace.flatMap((word) => schema[word] ?? []);
    if (typeof schema.$ref === 'string') below.push(this.#target(schema.$ref));
    return below.some((part) => this.#leadsTo(part, around));
  }

  #target(reference: string): unknown {
    let part: unknown = this.#root;
    for (const name of reference.slice(1).split('/').slice(1)) {
      if (typeof part !== 'object' || part === null) return undefined;
      const key = decoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
      part = Object.hasOwn(part, key) ? Reflect.get(part, key) : undefined;
    }
    return part;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
