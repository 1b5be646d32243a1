/** POST /v1/agent-testing/judges/calibrate: how far the judge agrees with people (contract 6.14). */
import { isDeepStrictEqual } from 'node:util';
import type { AssertionCreate } from '#shared/api/agent-testing/assertions.ts';
import type { Calibrate } from '#shared/api/agent-testing/calibration.ts';
import { ApiError } from '#shared/errors.ts';
import { type Db, fromJson, type TestRunRow } from '../../db/index.ts';
import { loadCase } from '../analysis/load-case.ts';
import type { TestingDeps } from '../common/deps.ts';
import { agreement, kappa } from '../judging/agreement.ts';
import { configProblems, evaluateAssertions } from '../judging/assertions/evaluate.ts';
import type { AssertionResult, ConversationRecord } from '../judging/ports.ts';
import { rounded, roundedInterval } from '../judging/statistics.ts';
import { findRecord, requireRun } from '../records/run-store.ts';
import { agentBrief } from '../runs/agent-brief.ts';
import { testedAgent } from '../runs/agent-store.ts';
import { recorded } from '../runs/conversation.ts';
import { judgeOf } from '../runs/evaluators.ts';
import { subjectOf } from '../runs/execute.ts';

type Labelled = Calibrate['labelled'][number];

/** Conversations that are judged at a time. */
const atOnce = 8;

/** @throws ApiError INVALID_PARAMETER, RUN_NOT_FOUND, RUN_NOT_FINISHED, RUN_RECORD_DELETED */
export async function calibrate(
  { database: { db }, models }: Pick<TestingDeps, 'database' | 'models'>,
  orgId: string,
  { assertion: common, labelled }: Calibrate,
) {
  const judge = judgeOf(models);
  const asked = labelled.map((one, index) => ({
    record: one,
    verdict: one.verdict,
    assertion: assertionOf(one, common, index),
  }));
  checkDistinct(asked);
  const cases: { assertion: AssertionCreate; record: ConversationRecord; verdict: Labelled['verdict'] }[] =
    [];
  for (const [index, { assertion, record, verdict }] of asked.entries()) {
    cases.push({ assertion, verdict, record: await recordOf(db, orgId, record, index) });
  }
  const results: AssertionResult[] = [];
  for (let from = 0; from < cases.length; from += atOnce) {
    const some = cases.slice(from, from + atOnce).map(async ({ assertion, record }) => {
      const { type, config } = assertion;
      const one = { id: '', type, config, name: null, is_required: true, weight: 1, order: 0 };
      return evaluateAssertions([one], record, { judge, seed: 0 });
    });
    results.push(...(await Promise.all(some)).flat());
  }
  return view(
    judge.evaluator,
    labelled.map(({ verdict }, index) => ({ verdict, result: results[index] })),
  );
}

function assertionOf(one: Labelled, common: AssertionCreate | undefined, index: number): AssertionCreate {
  const at = `/labelled/${index}`;
  if ((one.run_id === undefined) === (one.transcript === undefined)) {
    throw ApiError.invalid(at, 'needs run_id or transcript, and not both');
  }
  const assertion = one.assertion ?? common;
  if (!assertion) throw ApiError.invalid(`${at}/assertion`, 'is required where the request has none for all');
  const [problem] = configProblems(assertion);
  if (problem) {
    const place = one.assertion ? `${at}/assertion` : '/assertion';
    throw ApiError.invalid(`${place}/config${problem.path}`, problem.rule);
  }
  return assertion;
}

/** What is labelled twice would count as two samples. */
function checkDistinct(asked: readonly { readonly record: Labelled; readonly assertion: AssertionCreate }[]) {
  asked.forEach(({ assertion, record }, index) => {
    const same = asked
      .slice(0, index)
      .some(
        (other) =>
          other.record.run_id === record.run_id &&
          isDeepStrictEqual(other.record.transcript, record.transcript) &&
          other.assertion.type === assertion.type &&
          isDeepStrictEqual(other.assertion.config, assertion.config),
      );
    if (same)
      throw ApiError.invalid(
        `/labelled/${index}`,
        'has the conversation and the assertion of an earlier one',
      );
  });
}

async function recordOf(
  db: Db,
  orgId: string,
  { run_id, transcript }: Labelled,
  index: number,
): Promise<ConversationRecord> {
  if (run_id === undefined) return recorded({ input_messages: transcript ?? [] }).record;
  const run = await requireRun(db, orgId, run_id);
  const at = `/labelled/${index}/run_id`;
  if (run.status === 'PENDING' || run.status === 'RUNNING') {
    throw ApiError.of('RUN_NOT_FINISHED', { path: at });
  }
  const { deleted_at, voice } = await findRecord(db, run.id);
  if (deleted_at !== null) throw ApiError.of('RUN_RECORD_DELETED', { path: at, deleted_at });
  const { record } = await loadCase(db, run);
  const told = await toldTo(db, run);
  return {
    ...record,
    ...(run.agent_id !== null && { foreign: true as const }),
    ...(voice !== null && { voice: fromJson<NonNullable<ConversationRecord['voice']>>(voice) }),
    ...(told !== null && { agent: told }),
  };
}

/** What the agent was told, if that version still exists. */
async function toldTo(db: Db, run: TestRunRow): Promise<NonNullable<ConversationRecord['agent']> | null> {
  const { created_at, org_id, started_at, version_number } = run;
  const subject = subjectOf(run);
  if (subject.kind === 'agent') return null;
  try {
    const agent = await testedAgent(db, org_id, subject, version_number);
    return { instructions: agentBrief(agent), beganAt: started_at ?? created_at };
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

interface Judged {
  readonly verdict: Labelled['verdict'];
  readonly result: AssertionResult | undefined;
}

function view(evaluator: ReturnType<typeof judgeOf>['evaluator'], judged: readonly Judged[]) {
  const count = (verdict: Labelled['verdict'], status: AssertionResult['status']) =>
    judged.filter((one) => one.verdict === verdict && one.result?.status === status).length;
  const row = (verdict: Labelled['verdict']) => ({
    pass: count(verdict, 'PASSED'),
    fail: count(verdict, 'FAILED'),
    undecided: count(verdict, 'INCONCLUSIVE') + count(verdict, 'ERROR'),
  });
  const confusion = { pass: row('pass'), fail: row('fail') };
  const table = {
    passPass: confusion.pass.pass,
    passFail: confusion.pass.fail,
    failPass: confusion.fail.pass,
    failFail: confusion.fail.fail,
  };
  const same = agreement(table);
  const beyond = kappa(table);
  const decided = table.passPass + table.passFail + table.failPass + table.failFail;
  const { deterministic, model, provider } = evaluator;
  return {
    judge: { provider, model, deterministic },
    total: judged.length,
    decided,
    confusion,
    agreement: { value: rounded(same.value), interval: roundedInterval(same.interval) },
    kappa: {
      value: rounded(beyond.value),
      interval: roundedInterval(beyond.interval),
      note: noteOn(decided, beyond.value, beyond.interval !== null),
    },
    results: judged.flatMap(({ result, verdict }) => {
      if (!result) return [];
      const { reasoning, status } = result;
      const agrees =
        status === 'PASSED' || status === 'FAILED' ? (status === 'PASSED') === (verdict === 'pass') : null;
      return [{ verdict, status, agrees, score: rounded(result.score) ?? 0, reasoning }];
    }),
  };
}

/** Why a part of kappa is missing; null: none is. */
function noteOn(decided: number, value: number | null, hasInterval: boolean): string | null {
  if (decided === 0) return 'The judge decided nothing.';
  if (value === null) {
    return 'The judge and the people gave one and the same verdict to everything, which chance explains: label conversations that pass and some that fail.';
  }
  return hasInterval
    ? null
    : 'Verdicts that are all equal, or all opposite, say nothing about the error of kappa: label more.';
}
