/** Corrects the OpenAPI document generated from the routes. */
import type { Role } from '#shared/api/keys.ts';

export interface Operation {
  operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: Parameter[];
  readonly requestBody?: { readonly content?: Record<string, Media> };
  readonly responses?: Record<string, Answer>;
  /** The least role of a key that may call it; null: any key may. */
  readonly 'x-least-role'?: Role | null;
}

export interface Parameter {
  name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: unknown;
  readonly description?: string;
}

export interface Answer {
  readonly description?: string;
  content?: Record<string, Media>;
}

export interface Media {
  readonly schema?: unknown;
  readonly example?: unknown;
  readonly examples?: Record<string, { readonly value: unknown }>;
}

/** The parts of an OpenAPI document used here. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly description?: string };
  paths?: Record<string, Record<string, Operation>>;
  /** Events that are posted to customers, by type. */
  webhooks?: Record<string, Record<string, Operation>>;
}

/**
 * Joins paths that differ only in parameter names, which OpenAPI 3.1 treats as one; gives every operation an id; and
 * removes bodies without a description, such as those of pages.
 */
export function finishDocument(document: OpenApiDocument): void {
  document.paths = joinedPaths(document.paths ?? {});
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      operation.operationId = operationId(method, path);
      for (const answer of Object.values(operation.responses ?? {})) dropEmptyContent(answer);
    }
  }
}

function joinedPaths(
  paths: Record<string, Record<string, Operation>>,
): Record<string, Record<string, Operation>> {
  const joined = new Map<string, { path: string; methods: Record<string, Operation> }>();
  for (const [path, methods] of Object.entries(paths)) {
    const first = joined.get(nameless(path));
    if (!first) {
      joined.set(nameless(path), { path, methods });
      continue;
    }
    const names = new Map(
      parameterNames(path).map((name, index) => [name, parameterNames(first.path)[index]]),
    );
    for (const operation of Object.values(methods)) rename(operation, names);
    Object.assign(first.methods, methods);
  }
  return Object.fromEntries([...joined.values()].map(({ path, methods }) => [path, methods]));
}

function rename({ parameters = [] }: Operation, names: ReadonlyMap<string, string | undefined>): void {
  for (const parameter of parameters) {
    if (parameter.in === 'path') parameter.name = names.get(parameter.name) ?? parameter.name;
  }
}

function nameless(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}');
}

function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name);
}

/** For example `post_v1_sip_attach`. */
function operationId(method: string, path: string): string {
  return `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')}`;
}

function dropEmptyContent(answer: Answer): void {
  const schemas = Object.values(answer.content ?? {}).map(({ schema }) => Object.keys(schema ?? {}));
  if (schemas.every((keywords) => keywords.length === 0)) delete answer.content;
}
