/** API requests of the command. */
import { setTimeout as pause } from 'node:timers/promises';
import { Trouble } from '../setup/trouble.mjs';
import type { Options } from './options.ts';

export interface Connection {
  /** The JSON body. @throws Trouble for every response that is not a success */
  ask<T>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<T>;
  /** Reads an event stream until it ends or breaks. */
  follow(path: string, signal: AbortSignal): Promise<void>;
}

interface AssertionResult {
  readonly type: string;
  readonly name: string | null;
  readonly status: string;
  readonly passed: boolean;
  readonly is_required: boolean;
  readonly reasoning: string;
  readonly evidence: readonly { readonly turn: number; readonly quote: string }[];
}

/** A run as batches list it (contract 6.4). */
export interface Run {
  readonly id: string;
  readonly status: string;
  readonly overall_score: number | null;
  readonly duration_ms: number | null;
  readonly scenario: { readonly id?: string; readonly name: string };
  /** What it used of language models; null: not known. */
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cost: number | null;
    readonly currency: string | null;
    readonly unknown: readonly string[];
  } | null;
  readonly assertion_results: readonly AssertionResult[];
  /** Why it ended this way, when no assertion says so. */
  readonly reason?: string;
}

export interface Batch {
  readonly id: string;
  readonly status: string;
  readonly version_number: number | null;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly runs: readonly Run[];
}

/** The server is unreachable or busy; a retry may succeed. */
export class Unavailable extends Trouble {}

const base = '/v1/agent-testing';
/** Maximum scenarios in one batch (contract 6.6). */
const mostScenarios = 100;
/** Wait before a retry after a broken stream, ms. */
const askAgainMs = 1000;

export function connect(url: string, key: string): Connection {
  const send = async (method: string, path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...init.headers };
    try {
      return await fetch(new URL(path, url), { method, ...init, headers });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const cause =
        error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new Unavailable(
        `cannot reach ${url}`,
        cause,
        'check that the server is running, and check --url',
      );
    }
  };
  return {
    ask: async <T>(method: string, path: string, body?: object) => {
      const response = await send(method, path, {
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      const text = await response.text();
      if (!response.ok) throw refusal(`${method} ${path}`, response.status, text);
      return JSON.parse(text) as T;
    },
    follow: async (path, signal) => {
      const response = await send('GET', path, { signal });
      if (!response.ok) throw refusal(`GET ${path}`, response.status, await response.text());
      await response.text();
    },
  };
}

function refusal(what: string, status: number, text: string): Trouble {
  const remedy =
    status === 401 ? 'check the API key' : 'docs/errors.md says what the code means, and what to do';
  const Kind = status === 429 || status >= 500 ? Unavailable : Trouble;
  return new Kind(`${what} returned ${status}`, messagesIn(text), remedy);
}

/** Code and message of each error, else the text. */
function messagesIn(text: string): string {
  try {
    const { errors } = JSON.parse(text) as { errors?: { code: string; message: string }[] };
    if (errors?.length) return errors.map(({ code, message }) => `${code}: ${message}`).join('\n');
  } catch {
    // Proxies answer with HTML.
  }
  return text.slice(0, 500) || 'the answer is empty';
}

interface ListedScenario {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
}

const perPage = 100;

/** All scenarios of a subject, oldest first. */
async function listScenarios(connection: Connection, subject: Options['subject']): Promise<ListedScenario[]> {
  const known: ListedScenario[] = [];
  for (let more = true; more; ) {
    const query = `${subject.kind}_id=${encodeURIComponent(subject.id)}&limit=${perPage}&offset=${known.length}`;
    const { scenarios } = await connection.ask<{ scenarios: ListedScenario[] }>(
      'GET',
      `${base}/scenarios?${query}`,
    );
    known.push(...scenarios);
    more = scenarios.length === perPage;
  }
  // The API lists the newest first.
  return known.reverse();
}

/** @throws Trouble when one is unknown, or there is none */
export async function scenarioIds(
  connection: Connection,
  { scenarios, subject }: Options,
): Promise<string[]> {
  const known = await listScenarios(connection, subject);
  const chosen =
    scenarios.length === 0
      ? known.filter(({ enabled }) => enabled)
      : scenarios.map((wanted) => {
          const found = known.find(({ id, name }) => id === wanted || name === wanted);
          if (found) return found;
          const names = known.map(({ name }) => name).join('\n') || 'it has none';
          throw new Trouble(`the ${subject.kind} has no scenario "${wanted}"`, names, 'choose one of these');
        });
  const ids = [...new Set(chosen.map(({ id }) => id))];
  if (ids.length >= 1 && ids.length <= mostScenarios) return ids;
  throw new Trouble(
    'there is nothing to run',
    ids.length === 0 ? `the ${subject.kind} has no enabled scenario` : `${ids.length} scenarios are too many`,
    `create or enable some, or name at most ${mostScenarios} with --scenario`,
  );
}

/** The name of the tested pathway or persona; its id when it cannot be read. */
export async function subjectName(connection: Connection, { kind, id }: Options['subject']): Promise<string> {
  const path =
    kind === 'pathway' ? `/v1/pathway/${encodeURIComponent(id)}` : `/v1/personas/${encodeURIComponent(id)}`;
  const answer = await connection
    .ask<{ name?: unknown; data?: { name?: unknown } }>('GET', path)
    .catch(() => null);
  const name = answer?.name ?? answer?.data?.name;
  return typeof name === 'string' && name !== '' ? name : id;
}

/** Returns the batch's id. */
export async function startBatch(
  connection: Connection,
  { seed, version }: Options,
  scenario_ids: readonly string[],
): Promise<string> {
  const { batch_id } = await connection.ask<{ batch_id: string }>('POST', `${base}/batch-run`, {
    scenario_ids,
    ...(version !== null && { version_number: version }),
    ...(seed !== null && { seed }),
  });
  return batch_id;
}

/**
 * The batch once it has ended. Retries while the server restarts.
 * @throws Trouble when that takes longer than `timeoutMs`
 */
export async function followed(connection: Connection, batchId: string, timeoutMs: number): Promise<Batch> {
  const signal = AbortSignal.timeout(timeoutMs);
  const path = `${base}/batches/${encodeURIComponent(batchId)}`;
  while (!signal.aborted) {
    try {
      await connection.follow(`${path}/events`, signal);
      const batch = await connection.ask<Batch>('GET', path);
      if (batch.completed_at !== null) return await explained(connection, batch);
    } catch (error) {
      // A broken stream is opened again; a rejection is final.
      if (error instanceof Trouble && !(error instanceof Unavailable)) throw error;
    }
    await pause(askAgainMs, undefined, { signal }).catch(() => undefined);
  }
  const why = `it was still running after ${timeoutMs / 1000} s`;
  throw new Trouble(
    `batch ${batchId} takes too long`,
    why,
    'wait longer with --timeout, or look at its runs',
  );
}

/** Adds the reason to each failed run whose assertions do not explain it. */
async function explained(connection: Connection, batch: Batch): Promise<Batch> {
  const runs: Run[] = [];
  for (const run of batch.runs) {
    const failed = run.assertion_results.some(({ is_required, passed }) => is_required && !passed);
    if (run.status === 'PASSED' || failed) {
      runs.push(run);
      continue;
    }
    const { error_message, reasoning } = await connection.ask<{
      error_message: string | null;
      reasoning: string | null;
    }>('GET', `${base}/runs/${encodeURIComponent(run.id)}`);
    const reason = error_message ?? reasoning;
    runs.push(reason === null ? run : { ...run, reason });
  }
  return { ...batch, runs };
}
