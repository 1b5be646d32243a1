/** Validation of a tool (contract 8.1): pure functions. */

import type { BlockList } from 'node:net';
import { isObject } from '#shared/agent/graph-problem.ts';
import { referencesIn } from '#shared/agent/template.ts';
import { requireAllowedHost } from '#shared/allowed-host.ts';
import type { ResponseData, ToolCreate, ToolUpdate } from '#shared/api/tools.ts';
import { ApiError, errorItem } from '#shared/errors.ts';
import { type SchemaProblem, schemaProblems } from './input-schema.ts';
import { findAction, findIntegration, integrationKeys } from './integrations/catalogue.ts';
import type { Action } from './integrations/integration.ts';
import { isResponsePath } from './response-data.ts';
import { checkRequestTemplate } from './rest-rules.ts';
import { inputOf, type JsonValue, parseTemplate, stringsIn, templatedName } from './template.ts';
import { OutOfTime, withinTime } from './within-time.ts';

/** A tool as written, with its defaults. */
export interface ToolDraft {
  readonly name: string;
  readonly description: string;
  readonly integration: string;
  readonly action: string;
  readonly input_schema: Record<string, unknown> | null;
  readonly body: string | Record<string, unknown> | null;
  readonly speech: string | null;
  readonly timeout: number;
  readonly cache: boolean;
  readonly response_data: readonly ResponseData[] | null;
  readonly max_retries: number;
  readonly cooldown: number;
  readonly resource_id: string | null;
  readonly public: boolean;
  readonly label: string | null;
}

/** Names of the agent's own actions. */
const reservedNames = [
  'input',
  'speak',
  'transfer',
  'switch',
  'wait',
  'finish',
  'press',
  'button',
  'say',
  'pause',
  'record',
  'play',
  'dial',
  'hang',
];
const mostSchemaBytes = 65_536;
const schemaCheckMs = 100;
const mostViolations = 20;

export function newDraft(body: ToolCreate): ToolDraft {
  const defaults = {
    input_schema: null,
    body: null,
    speech: null,
    timeout: 10_000,
    cache: false,
    response_data: [],
    max_retries: 0,
    cooldown: 1,
    resource_id: null,
    public: false,
    label: null,
  };
  return { ...defaults, ...body, cache: asFlag(body.cache ?? false) };
}

export function mergedDraft(stored: ToolDraft, body: ToolUpdate): ToolDraft {
  return { ...stored, ...body, cache: asFlag(body.cache ?? stored.cache) };
}

function asFlag(value: boolean | 'true' | 'false'): boolean {
  return value === true || value === 'true';
}

/** @throws ApiError the one of contract 8.1 for the first broken rule */
export function checkTool(draft: ToolDraft, allowedTargets: BlockList): void {
  checkName(draft.name);
  const action = actionOf(draft);
  if (draft.input_schema !== null) checkSchema(draft.input_schema);
  const body = bodyTree(draft.body);
  checkReferences(draft, action, body);
  checkResponseData(draft.response_data ?? []);
  if (body === null) return;
  if (!isObject(body)) throw ApiError.invalid('/body', 'must be an object, or JSON text of one');
  if (action.kind === 'code') checkCode(body);
  if (action.kind === 'rest') checkTarget(body, draft.resource_id !== null, allowedTargets);
}

function checkName(name: string): void {
  const plain = name.trim().toLowerCase();
  if (plain === '') throw ApiError.invalid('/name', 'must not be blank');
  if (!reservedNames.includes(plain)) return;
  const details = { path: '/name', rule: 'must not be a reserved name', reserved: reservedNames };
  throw ApiError.of('INVALID_PARAMETER', details, `/name: "${name}" is reserved`);
}

function actionOf({ integration: key, action }: ToolDraft): Action {
  const integration = findIntegration(key);
  if (!integration) throw unknownIntegration(key).answeredWith(400);
  const found = findAction(integration, action);
  if (found) return found;
  const valid = integration.actions.map((one) => one.key);
  throw ApiError.of(
    'ACTION_NOT_FOUND',
    { path: '/action', valid_actions: valid },
    `The integration ${key} has no action "${action}". Valid actions: ${valid.join(', ')}`,
  );
}

/** 404; in the body of a tool it becomes 400. */
export function unknownIntegration(key: string): ApiError {
  return ApiError.of(
    'INTEGRATION_NOT_FOUND',
    { integrations: integrationKeys },
    `There is no integration "${key}". Integrations: ${integrationKeys.join(', ')}`,
  );
}

function checkSchema(schema: Record<string, unknown>): void {
  if (Buffer.byteLength(JSON.stringify(schema)) > mostSchemaBytes) {
    throw ApiError.invalid('/input_schema', `must be at most ${mostSchemaBytes} bytes of JSON`);
  }
  const items = problemsOf(schema)
    .slice(0, mostViolations)
    .map(({ path, rule }) => errorItem('INVALID_INPUT_SCHEMA', { path, rule }, `${path}: ${rule}`));
  const [first, ...others] = items;
  if (first) throw ApiError.many([first, ...others]);
}

function problemsOf(schema: Record<string, unknown>): readonly SchemaProblem[] {
  try {
    return withinTime(schemaCheckMs, () => schemaProblems(schema));
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    return [{ path: '/input_schema', rule: 'must not multiply its references' }];
  }
}

/** The body as a JSON tree: text is parsed as JSON; other text stays text. */
export function bodyTree(body: ToolDraft['body']): JsonValue | null {
  if (typeof body === 'string') return body === '' ? null : (parseTemplate(body) ?? body);
  return body as JsonValue | null;
}

function checkReferences({ input_schema }: ToolDraft, action: Action, body: JsonValue | null): void {
  if (body === null || action.kind === 'code') return;
  const named = templatedName(body, '/body');
  if (named !== null)
    throw ApiError.invalid(named, 'references are allowed in values only, not in property names');
  const properties = isObject(input_schema?.properties) ? input_schema.properties : {};
  const unknown = new Set<string>();
  for (const { text } of stringsIn(body, '/body')) {
    for (const reference of referencesIn(text)) {
      const input = inputOf(reference);
      if (input !== null && !Object.hasOwn(properties, input)) unknown.add(reference);
    }
  }
  if (unknown.size === 0) return;
  const references = [...unknown].slice(0, mostViolations);
  throw ApiError.of(
    'UNKNOWN_TEMPLATE_REFERENCE',
    { path: '/body', references },
    `The body refers to ${references.join(', ')}, but input_schema.properties has no such input.`,
  );
}

function checkResponseData(entries: readonly ResponseData[]): void {
  for (const [index, { data }] of entries.entries()) {
    if (!isResponsePath(data)) {
      throw ApiError.invalid(`/response_data/${index}/data`, 'must be a JSON path, such as $.order.status');
    }
  }
}

function checkCode({ code, ...others }: Readonly<Record<string, unknown>>): void {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw ApiError.of('UNKNOWN_PROPERTY', { path: `/body/${unknown}` });
  if (typeof code !== 'string' || code.length < 1 || code.length > 20_000) {
    throw ApiError.invalid('/body/code', 'must be a text of 1 to 20000 characters');
  }
}

function checkTarget(
  body: Readonly<Record<string, unknown>>,
  hasResource: boolean,
  allowedTargets: BlockList,
): void {
  const { origin } = checkRequestTemplate(body);
  if (origin === null) {
    if (!hasResource) throw ApiError.invalid('/body/url', 'a path needs a resource_id with a base_url');
    return;
  }
  requireAllowedHost(new URL(origin).hostname, '/body/url', allowedTargets);
}
