/**
 * Judges production calls for watches. Each look of a watch is a piece of stored work that one replica claims, and each
 * call moves the watch's cursor in the transaction that stores its verdict, so that no call is counted twice.
 *
 *     end is stored ──a minute, for what the edge still sends──> sampled? ──> within the budget? ──> judged ──> drift
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  mostVersions,
  type VersionShare,
  type WatchAlarm,
  type WatchedStatus,
} from '#shared/api/agent-testing/watches.ts';
import { raiseDrift, resolveDrift } from '../../alerts/index.ts';
import { findMarks, findTranscript } from '../../calls/index.ts';
import {
  type BackgroundWork,
  type Db,
  DueWork,
  type TestWatchedCallRow,
  type TestWatchRow,
  toJson,
} from '../../db/index.ts';
import { queueEvent, webhookSubject } from '../../webhooks/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { evaluateAssertions } from '../judging/assertions/evaluate.ts';
import type { AssertionResult, CouldHave } from '../judging/ports.ts';
import { runVerdict } from '../judging/scoring.ts';
import { agentParts } from '../runs/agent-parts.ts';
import { judgeOf } from '../runs/evaluators.ts';
import { JudgeTokens, tokensFor } from './judge-tokens.ts';
import { mostTurns, recordOf } from './record.ts';
import { alarmMove, conversationOf, driftOf, isSampled, sharesOf, statusOf } from './rules.ts';
import { alarmOf, assertionsOf, countedCalls, type EndedCall, endedCalls, forgetCalls } from './store.ts';

/** Announced when watches were stored. */
export const watchSubject = 'watches';

/** Lines of a call's transcript may come a moment after its end. */
const settleMs = 60_000;
const everyMs = 60_000;
/** Calls of one look; then it is another watch's turn. */
const callsAtOnce = 25;
const mostAtOnce = 4;
/** Kept of a verdict. */
const mostQuotes = 2;
const longestQuote = 300;
const longestReasoning = 500;

export interface WatchMetrics {
  judged(outcome: WatchedStatus | 'skipped'): void;
}

export function watchMetrics(registry: Registry, db: Db): WatchMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'trunkline_control_watched_calls_total',
    help: 'Production calls judged for watches, by outcome; skipped: the budget of the day was spent.',
    labelNames: ['outcome'],
    registers,
  });
  new Gauge({
    name: 'trunkline_control_watch_alarms',
    help: 'Watches whose agent passes certainly less often than its last good version.',
    registers,
    async collect() {
      const { count } = await db
        .selectFrom('test_watches')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('alarm', 'is not', null)
        .executeTakeFirstOrThrow();
      this.set(Number(count));
    },
  });
  return { judged: (outcome) => calls.inc({ outcome }) };
}

type Services = Pick<TestingDeps, 'announcements' | 'clock' | 'database' | 'models' | 'replica'>;

export function startWatches(
  services: Services,
  log: { error(facts: object, message: string): void },
  metrics: WatchMetrics,
): BackgroundWork {
  const { announcements, clock, database, replica } = services;
  const { db } = database;
  return new DueWork<TestWatchRow>({
    db,
    replica,
    clock,
    log,
    name: 'watch',
    mostRunning: mostAtOnce,
    mostPerOrganization: 1,
    due: (reader, now, { ids, organizations }, limit) => {
      let watches = reader
        .selectFrom('test_watches')
        .selectAll()
        .where('enabled', '=', 1)
        .where('next_at', '<=', now);
      if (ids.length > 0) watches = watches.where('id', 'not in', [...ids]);
      if (organizations.length > 0) watches = watches.where('org_id', 'not in', [...organizations]);
      return watches.orderBy('next_at').orderBy('id').limit(limit).execute();
    },
    nextDue: async (now) => {
      const row = await db
        .selectFrom('test_watches')
        .select('next_at')
        .where('enabled', '=', 1)
        .where('next_at', '>', now)
        .orderBy('next_at')
        .limit(1)
        .executeTakeFirst();
      return row?.next_at ?? null;
    },
    attempt: (watch, signal) => look(services, metrics, watch, signal),
    onStored: (wake) => announcements.on(watchSubject, wake),
  });
}

/** One look of a watch. */
export async function look(
  services: Services,
  metrics: WatchMetrics,
  found: TestWatchRow,
  signal: AbortSignal,
): Promise<void> {
  const { clock, database } = services;
  const { db } = database;
  const now = new Date(clock.now()).toISOString();
  const until = new Date(clock.now() - settleMs).toISOString();
  let watch = found;
  const day = now.slice(0, 10);
  if (watch.day !== day) {
    await forgetCalls(db, watch.id);
    watch = { ...watch, day, judged: 0, skipped: 0, model_tokens: 0 };
  }
  const before = watch.judged;
  const calls = await endedCalls(db, watch, until, callsAtOnce);
  for (const call of calls) {
    if (signal.aborted) return;
    watch = await take(services, metrics, watch, call);
  }
  const isDone = calls.length < callsAtOnce;
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('test_watches')
      .set({
        day,
        judged: watch.judged,
        skipped: watch.skipped,
        model_tokens: watch.model_tokens,
        next_at: isDone ? new Date(clock.now() + everyMs).toISOString() : now,
        // Calls of others need not be looked through again.
        ...(isDone && until > watch.cursor_at && { cursor_at: until, cursor_id: '' }),
      })
      .where('id', '=', watch.id)
      .execute();
    // Only calls can change it.
    if (watch.judged > before) await followDrift(services, trx, watch.id, now);
  });
  if (watch.judged > before) services.announcements.announce(webhookSubject);
}

/** Of a call of a task nothing is known. */
function couldHaveOf(db: Db, orgId: string, call: EndedCall): { couldHave?: CouldHave } {
  const { pathway_id, pathway_version, persona_id, variables } = call;
  if (pathway_id !== null) {
    const subject = { kind: 'pathway', id: pathway_id } as const;
    return { couldHave: agentParts(db, orgId, { subject, version: pathway_version ?? 0, given: variables }) };
  }
  if (persona_id === null) return {};
  const subject = { kind: 'persona', id: persona_id } as const;
  return { couldHave: agentParts(db, orgId, { subject, version: undefined, given: variables }) };
}

async function take(
  { clock, database, models }: Services,
  metrics: WatchMetrics,
  watch: TestWatchRow,
  call: EndedCall,
): Promise<TestWatchRow> {
  const { db } = database;
  const moved = { ...watch, cursor_at: call.end_known_at, cursor_id: call.id };
  if (!isSampled(watch.id, call.id, watch.sample_rate)) return moved;
  const assertions = assertionsOf(watch);
  const marks = await findMarks(db, call.id, 0, mostTurns);
  const { record, unknown } = recordOf(call, await findTranscript(db, call.id), marks.items);
  if (record.chat_history.length === 0) return moved;
  const used = new JudgeTokens();
  const judge = judgeOf(models.counted(used.count));
  const tokens = judge.evaluator.deterministic ? 0 : tokensFor(assertions, record);
  const isSpent =
    watch.judged >= watch.calls_per_day || watch.model_tokens + tokens > watch.model_tokens_per_day;
  if (isSpent && (tokens > 0 || watch.judged >= watch.calls_per_day)) {
    metrics.judged('skipped');
    return store(db, { ...moved, skipped: watch.skipped + 1 }, null);
  }
  const results = await evaluateAssertions(assertions, record, {
    judge,
    seed: 0,
    unknown,
    ...couldHaveOf(db, watch.org_id, call),
  });
  const status = statusOf(results);
  metrics.judged(status);
  const counted = {
    ...moved,
    judged: watch.judged + 1,
    model_tokens: watch.model_tokens + used.spent(tokens, assertions),
  };
  return store(db, counted, {
    watch_id: watch.id,
    call_id: call.id,
    version: call.pathway_id === null ? null : (call.pathway_version ?? 0),
    status,
    conversation: conversationOf(record),
    reasoning: runVerdict(results, null).reasoning.slice(0, 2 * longestReasoning),
    results: toJson(results.map(shortened)),
    ended_at: call.ended_at ?? '',
    judged_at: new Date(clock.now()).toISOString(),
  });
}

/** A list of calls has many of them. */
function shortened(result: AssertionResult): AssertionResult {
  const { evidence, reasoning } = result;
  const quotes = evidence.slice(0, mostQuotes);
  return {
    ...result,
    reasoning: reasoning.slice(0, longestReasoning),
    evidence: quotes.map(({ quote, turn }) => ({ turn, quote: quote.slice(0, longestQuote) })),
  };
}

async function store(db: Db, watch: TestWatchRow, judged: TestWatchedCallRow | null): Promise<TestWatchRow> {
  const { cursor_at, cursor_id, day, id, judged: count, model_tokens, skipped } = watch;
  await db.transaction().execute(async (trx) => {
    if (judged) await insertJudged(trx, judged);
    await trx
      .updateTable('test_watches')
      .set({ cursor_at, cursor_id, day, judged: count, model_tokens, skipped })
      .where('id', '=', id)
      .execute();
  });
  return watch;
}

function insertJudged(db: Db, row: TestWatchedCallRow) {
  return db
    .insertInto('test_watched_calls')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Raises the alarm of a watch, or ends it, and queues the event. @param now ISO */
async function followDrift(
  { clock }: Pick<Services, 'clock'>,
  db: Db,
  id: string,
  now: string,
): Promise<void> {
  const watch = await db.selectFrom('test_watches').selectAll().where('id', '=', id).executeTakeFirst();
  // Deleted meanwhile.
  if (!watch) return;
  const shares = sharesOf(await countedCalls(db, watch), mostVersions);
  const drift = driftOf(shares, watch.drift_min_calls);
  const alarm = alarmOf(watch);
  const move = alarmMove(alarm, drift, shares[0]?.version);
  const alert = (one: WatchAlarm) => alertOf(watch, one, shares);
  if (move === 'keep') {
    // An earlier version raised none.
    if (alarm) await raiseDrift(db, alert(alarm));
    return;
  }
  const raised: WatchAlarm | null =
    move === 'raise' && drift.compared ? { ...drift.compared, raised_at: now } : null;
  await db
    .updateTable('test_watches')
    .set({ alarm: raised && toJson(raised) })
    .where('id', '=', id)
    .execute();
  if (raised) await raiseDrift(db, alert(raised));
  else await resolveDrift(db, id, now);
  const told = raised ?? alarm;
  if (!told) return;
  await queueEvent(db, clock, {
    orgId: watch.org_id,
    type: raised ? 'test_watch.drift_raised' : 'test_watch.drift_resolved',
    url: null,
    subjectId: id,
    data: {
      watch_id: id,
      name: watch.name,
      pathway_id: watch.pathway_id,
      persona_id: watch.persona_id,
      phone_number: watch.number,
      alarm: told,
      resolved_at: raised ? null : now,
    },
  });
}

function alertOf({ id, number, org_id }: TestWatchRow, alarm: WatchAlarm, shares: readonly VersionShare[]) {
  const passed = (version: number | null) => shares.find((one) => one.version === version)?.pass_rate ?? 0;
  return {
    orgId: org_id,
    watchId: id,
    number,
    passed: passed(alarm.version),
    goodPassed: passed(alarm.good_version),
    raisedAt: alarm.raised_at,
  };
}
