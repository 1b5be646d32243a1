/**
 * Runs tools (contract 8.2) for the API, calls, chats and tests.
 *
 *     inputs fit the schema? -> resource there? -> template filled in -> cached? -> attempts -> variables -> log
 */
import type { FastifyBaseLogger } from 'fastify';
import type { OutgoingParts } from '#outgoing/request.ts';
import { isObject } from '#shared/agent/graph-problem.ts';
import type { Variables } from '#shared/agent/interfaces.ts';
import { beginning, lengthMs } from '#shared/clock.ts';
import { ApiError, errorItem } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Db, IntegrationResourceRow, SecretBox, ToolRow } from '../db/index.ts';
import type { SharedPlaces } from '../replicas/index.ts';
import { withRetries } from './attempts.ts';
import { cacheKey, ResultCache } from './cache.ts';
import { CodePool } from './code-pool.ts';
import { customerVariables, customerViolations, type Threads } from './customer-work.ts';
import { findAction, findIntegration } from './integrations/catalogue.ts';
import type { Action, Integration } from './integrations/integration.ts';
import type { ToolLimits } from './limits.ts';
import { type Prepared, prepare, type SendSms } from './prepare.ts';
import { findActiveResource, openCredentials } from './resources-store.ts';
import type { ToolDraft } from './rules.ts';
import { insertRun } from './runs-store.ts';
import type { SentRequest } from './sent-request.ts';
import { draftOf } from './store.ts';
import { TemplateError } from './template.ts';

export interface ToolMetrics {
  run(integration: string, outcome: 'success' | 'failure' | 'cached'): void;
  codeKilled(): void;
}

export interface ToolsParts extends OutgoingParts {
  readonly db: Db;
  readonly secrets: SecretBox;
  readonly log: Pick<FastifyBaseLogger, 'error'>;
  readonly sendSms: SendSms;
  readonly limits: ToolLimits;
  /** Concurrent tools of one organization. */
  readonly runsAtOnce: number;
  /** Running tools by organization. */
  readonly running: SharedPlaces;
  readonly metrics: ToolMetrics;
}

export type RunSource = 'api' | 'call' | 'chat' | 'widget' | 'test';

export interface RunOrder {
  readonly inputs: unknown;
  /** The conversation's variables for templates. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly source: RunSource;
  /** The conversation whose results may be reused; null: none. */
  readonly conversationId: string | null;
  readonly signal: AbortSignal;
}

/** The response of POST /v2/tools/{id}/run. */
export interface RunResult {
  readonly success: boolean;
  readonly statusCode: number | null;
  readonly data: unknown;
  /** ms */
  readonly responseTime: number;
  readonly variables: Record<string, unknown>;
  readonly error: string | null;
  /** For the API only: what each attempt sent; null: no HTTP request. */
  readonly request: SentRequest | null;
}

type Outcome = Omit<RunResult, 'responseTime'> & { readonly attempts: number; readonly cached: boolean };

const mostCachedCharacters = 32 * 1024 * 1024;
/** Beyond the time of the code itself: the thread and its engine may have to be loaded first, ms. */
const codeGraceMs = 5000;

export class Tools {
  readonly #parts: ToolsParts;
  readonly #cache: ResultCache;
  readonly #code: CodePool;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(parts: ToolsParts) {
    const { limits, clock, metrics } = parts;
    this.#parts = parts;
    this.#cache = new ResultCache(clock, limits.cacheMs, mostCachedCharacters);
    this.#code = new CodePool(
      { threads: limits.threads, mostWaiting: limits.waiting, graceMs: codeGraceMs },
      () => metrics.codeKilled(),
    );
  }

  get db(): Db {
    return this.#parts.db;
  }

  /**
   * Runs a tool once, with its retries. A failing target is in the result.
   * @throws ApiError INVALID_PARAMETER for invalid inputs, RESOURCE_NOT_FOUND
   * @throws the reason of `signal` when it is aborted
   */
  run(tool: ToolRow, order: RunOrder): Promise<RunResult> {
    const running = this.#run(tool, order);
    const settled: Promise<unknown> = running.then(
      () => this.#running.delete(settled),
      () => this.#running.delete(settled),
    );
    this.#running.add(settled);
    return running;
  }

  /** What a tool's `response_data` finds in a result that it did not give itself. */
  async learned(tool: ToolRow, data: unknown, signal: AbortSignal): Promise<Variables> {
    const { response_data, timeout: timeoutMs } = draftOf(this.#parts.secrets, tool);
    const threads = { pool: this.#code, orgId: tool.org_id, timeoutMs, signal };
    return (await customerVariables(response_data ?? [], data, threads)) ?? {};
  }

  /** Runs of code, checks and paths waiting for a thread. */
  get codeWaiting(): number {
    return this.#code.waiting;
  }

  /** Aborts what runs, and resolves when nothing is running. */
  async close(): Promise<void> {
    this.#closing.abort(ApiError.unavailable('The service is stopping.', 5));
    await Promise.all(this.#running);
    await this.#code.close();
  }

  async #run(tool: ToolRow, order: RunOrder): Promise<RunResult> {
    const { clock, metrics, running, runsAtOnce, secrets } = this.#parts;
    const draft = draftOf(secrets, tool);
    const signal = AbortSignal.any([order.signal, this.#closing.signal]);
    const threads = { pool: this.#code, orgId: tool.org_id, timeoutMs: draft.timeout, signal };
    const inputs = await checkedInputs(draft, order.inputs, threads);
    signal.throwIfAborted();
    const { integration, action } = known(tool);
    const resource = await this.#resource(tool, integration);
    signal.throwIfAborted();
    const begun = beginning(clock);
    const leave = await running.enter(tool.org_id, runsAtOnce);
    const outcome = leave
      ? await this.#outcome(tool, draft, action, resource, { ...order, inputs, signal }).finally(leave)
      : failed('too many tools of the organization run at the same time; wait for one to end');
    const responseTime = lengthMs(clock, begun);
    metrics.run(tool.integration, outcome.cached ? 'cached' : outcome.success ? 'success' : 'failure');
    await this.#log(tool, order, outcome, begun.startedAt, responseTime);
    const { success, statusCode, data, variables, error, request } = outcome;
    return { success, statusCode, data, responseTime, variables, error, request };
  }

  async #resource(tool: ToolRow, integration: Integration): Promise<IntegrationResourceRow | null> {
    if (tool.resource_id === null) {
      if (integration.credentials?.needed) throw ApiError.of('RESOURCE_NOT_FOUND', { resource_id: null });
      return null;
    }
    const { db } = this.#parts;
    const resource = await findActiveResource(db, tool.org_id, integration.key, tool.resource_id);
    if (!resource) throw ApiError.of('RESOURCE_NOT_FOUND', { resource_id: tool.resource_id });
    return resource;
  }

  async #outcome(
    tool: ToolRow,
    draft: ToolDraft,
    action: Action,
    resource: IntegrationResourceRow | null,
    order: RunOrder & { readonly inputs: Record<string, unknown> },
  ): Promise<Outcome> {
    const { inputs, variables, conversationId, signal } = order;
    let prepared: Prepared;
    try {
      const credentials = resource && openCredentials(this.#parts.secrets, resource);
      const { limits } = this.#parts;
      const parts = { ...this.#parts, orgId: tool.org_id, code: this.#code, codeLimits: limits };
      prepared = prepare(parts, draft, action, resource && { id: resource.id, credentials }, {
        inputs,
        variables,
      });
    } catch (error) {
      if (error instanceof TemplateError) return failed(error.message);
      throw error;
    }
    const key =
      draft.cache && conversationId !== null
        ? cacheKey([tool.org_id, conversationId, tool.id, tool.version, inputs, prepared.fingerprint])
        : null;
    const kept = key === null ? undefined : this.#cache.get(key);
    if (isOutcome(kept)) return { ...kept, cached: true, attempts: 0 };
    const { data, statusCode, error, attempts } = await withRetries(
      {
        clock: this.#parts.clock,
        mostRetries: draft.max_retries,
        cooldownMs: draft.cooldown * 1000,
        signal,
      },
      () => prepared.attempt(signal),
    );
    // Nobody looks at that of a conversation, and its result may be cached.
    const request = order.source === 'api' ? prepared.request() : null;
    const outcome = await withVariables(
      { success: error === null, statusCode, data, variables: {}, error, attempts, cached: false, request },
      draft,
      { pool: this.#code, orgId: tool.org_id, timeoutMs: draft.timeout, signal },
    );
    if (key !== null && outcome.success) this.#cache.set(key, outcome);
    return outcome;
  }

  /** A failure to write the log does not affect the run. */
  async #log(
    tool: ToolRow,
    { source, conversationId }: RunOrder,
    outcome: Outcome,
    startedAt: number,
    duration: number,
  ): Promise<void> {
    const { db, log } = this.#parts;
    const row = {
      id: newId(),
      org_id: tool.org_id,
      tool_id: tool.id,
      source,
      conversation_id: conversationId,
      started_at: new Date(startedAt).toISOString(),
      success: flag(outcome.success),
      cached: flag(outcome.cached),
      status_code: outcome.statusCode,
      duration_ms: Math.round(duration),
      attempts: outcome.attempts,
      error: outcome.error,
    };
    await insertRun(db, row).catch((error: unknown) =>
      log.error({ err: error, tool_id: tool.id }, 'the run of a tool could not be logged'),
    );
  }
}

/** @throws ApiError INVALID_PARAMETER with every violation */
async function checkedInputs(
  draft: ToolDraft,
  inputs: unknown,
  threads: Threads,
): Promise<Record<string, unknown>> {
  const given = inputs ?? {};
  const found = isObject(given)
    ? await customerViolations(draft.input_schema ?? {}, given, threads)
    : [{ path: '', rule: 'must be object' }];
  const items = found.map(({ path, rule }) =>
    errorItem('INVALID_PARAMETER', { path: `/inputs${path}`, rule }, `/inputs${path}: ${rule}`),
  );
  const [first, ...others] = items;
  if (first) throw ApiError.many([first, ...others]);
  return { ...(given as Record<string, unknown>) };
}

/** Already checked when the tool was written. */
function known(tool: ToolRow): { integration: Integration; action: Action } {
  const integration = findIntegration(tool.integration);
  const action = integration && findAction(integration, tool.action);
  if (!integration || !action) throw new Error(`Tool ${tool.id} has an action that no longer exists`);
  return { integration, action };
}

async function withVariables(outcome: Outcome, draft: ToolDraft, threads: Threads): Promise<Outcome> {
  if (!outcome.success) return outcome;
  const variables = await customerVariables(draft.response_data ?? [], outcome.data, threads);
  if (variables) return { ...outcome, variables };
  return { ...outcome, error: 'the response_data paths take too long on this response' };
}

function failed(error: string): Outcome {
  return {
    success: false,
    statusCode: null,
    data: null,
    variables: {},
    error,
    attempts: 0,
    cached: false,
    request: null,
  };
}

/** The cache returns what was put into it. */
function isOutcome(value: unknown): value is Outcome {
  return isObject(value);
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
