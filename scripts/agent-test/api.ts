/** API requests of the command, by the SDK. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Trunkline } from '../../clients/typescript/src/index.ts';
import { asked, Unavailable } from '../connection.ts';
import { Trouble } from '../setup/trouble.mjs';
import type { Options } from './options.ts';

interface AssertionResult {
  readonly type: string;
  readonly name: string | null;
  readonly status: string;
  readonly passed: boolean;
  readonly is_required: boolean;
  readonly reasoning: string;
  readonly evidence: readonly { readonly turn: number; readonly quote: string }[];
}

/** What the command shows of a run as batches list it (contract 6.4). */
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

/** Maximum scenarios in one batch (contract 6.6). */
const mostScenarios = 100;
const perPage = 100;
/** Wait before a retry after a broken stream, ms. */
const askAgainMs = 1000;

/** All scenarios of a subject, oldest first. */
async function listScenarios(client: Trunkline, { id, kind }: Options['subject']) {
  const found = client.tests.scenarios({ [`${kind}_id`]: id, limit: perPage }).take(Number.POSITIVE_INFINITY);
  // The API lists the newest first.
  return (await asked(found)).reverse();
}

/** @throws Trouble when one is unknown, or there is none */
export async function scenarioIds(client: Trunkline, { scenarios, subject }: Options): Promise<string[]> {
  const known = await listScenarios(client, subject);
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
export async function subjectName(client: Trunkline, { kind, id }: Options['subject']): Promise<string> {
  const name =
    kind === 'pathway'
      ? client.pathways.get(id).then((pathway) => pathway.name)
      : client.request('GET /v1/personas/{id}', { path: { id } }).then(({ data }) => data.name);
  return (await name.catch(() => '')) || id;
}

/** Returns the batch's id. */
export async function startBatch(
  client: Trunkline,
  { seed, version }: Options,
  scenario_ids: readonly string[],
): Promise<string> {
  const order = {
    scenario_ids,
    ...(version !== null && { version_number: version }),
    ...(seed !== null && { seed }),
  };
  const { batch_id } = await asked(client.tests.runBatch(order));
  return batch_id;
}

/**
 * The batch once it has ended. Retries while the server restarts.
 * @throws Trouble when that takes longer than `timeoutMs`
 */
export async function followed(client: Trunkline, batchId: string, timeoutMs: number): Promise<Batch> {
  const signal = AbortSignal.timeout(timeoutMs);
  while (!signal.aborted) {
    try {
      const events = client.request(
        'GET /v1/agent-testing/batches/{id}/events',
        { path: { id: batchId } },
        { signal },
      );
      // The stream ends with the batch.
      await (await asked(events)).text();
      const batch = await asked(client.tests.getBatch(batchId));
      if (batch.completed_at !== null) return await explained(client, batch);
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
async function explained(client: Trunkline, batch: Batch): Promise<Batch> {
  const runs: Run[] = [];
  for (const run of batch.runs) {
    const failed = run.assertion_results.some(({ is_required, passed }) => is_required && !passed);
    if (run.status === 'PASSED' || failed) {
      runs.push(run);
      continue;
    }
    const { error_message, reasoning } = await asked(client.tests.getRun(run.id));
    const reason = error_message ?? reasoning;
    runs.push(reason === null ? run : { ...run, reason });
  }
  return { ...batch, runs };
}
