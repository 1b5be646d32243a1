/** Periodically evaluates every configuration with alerts (contract 3.5: every 60 s). */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Db, SipConfigurationRow } from '../db/index.ts';
import { alertsOf } from '../trunks/index.ts';
import { webhookSubject } from '../webhooks/index.ts';
import type { AlertDeps } from './deps.ts';
import { configurationsAfter, findFacts, type Judged } from './facts-store.ts';
import { noticeSubject } from './notices-store.ts';
import { type AlertKind, move, type Reading, readings } from './rules.ts';
import {
  countOpen,
  openAlerts,
  raiseAlert,
  resolveAlert,
  setCalm,
  type TrunkAlert,
  withdrawAlerts,
  withdrawOrphans,
} from './store.ts';

/** Configurations read at once; requests are answered in between. */
const pageSize = 200;

export interface EvaluationParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly announcements: AlertDeps['announcements'];
  readonly log: FastifyBaseLogger;
  /** An older probe says nothing about now. */
  readonly probeGapMs: number;
}

/** Evaluates all once. Rounds must not overlap. */
export async function evaluateAlerts(parts: EvaluationParts): Promise<void> {
  const { clock, db } = parts;
  for (let after = ''; ; ) {
    const page = await configurationsAfter(db, after, pageSize).execute();
    const last = page.at(-1);
    if (!last) break;
    after = last.id;
    await evaluatePage(parts, page);
  }
  await withdrawOrphans(db, isoNow(clock));
}

async function evaluatePage(parts: EvaluationParts, page: readonly SipConfigurationRow[]): Promise<void> {
  const { announcements, clock, db, log, probeGapMs } = parts;
  const ids = page.map((row) => row.id);
  const open = Map.groupBy(await openAlerts(db, ids), (alert) => alert.configuration_id);
  const enabled = new Set(page.filter((row) => alertsOf(row).enabled));
  for (const row of page) {
    if (!enabled.has(row) && open.has(row.id)) await withdrawAlerts(db, isoNow(clock), row.id);
  }
  let isNews = false;
  for (const judged of await findFacts(db, [...enabled], clock.now(), probeGapMs)) {
    try {
      isNews = (await judge(parts, judged, open.get(judged.row.id) ?? [])) || isNews;
    } catch (error) {
      // The others are evaluated anyway; this one again in the next round.
      log.error({ err: error, trunk_id: judged.row.id }, 'alerts of a configuration could not be evaluated');
    }
  }
  if (!isNews) return;
  announcements.announce(webhookSubject);
  announcements.announce(noticeSubject);
}

/** Whether there is a notice to send. */
async function judge(
  parts: EvaluationParts,
  { row, facts }: Judged,
  open: readonly TrunkAlert[],
): Promise<boolean> {
  let isNews = false;
  for (const reading of readings(facts, alertsOf(row).thresholds, parts.clock.now())) {
    const alert = open.find(({ kind }) => kind === reading.kind);
    isNews = (await apply(parts, row, reading, alert)) || isNews;
  }
  return isNews;
}

async function apply(
  { clock, db, log }: EvaluationParts,
  row: SipConfigurationRow,
  reading: Reading,
  alert: TrunkAlert | undefined,
): Promise<boolean> {
  const step = move(reading, alert && { calm: alert.calm_evaluations });
  const { kind, value, threshold } = reading;
  const facts = { org_id: row.org_id, trunk_id: row.id, number: row.number, kind, value, threshold };
  if (step.to === 'raised') {
    if (!(await raiseAlert(db, clock, row, reading))) return false;
    log.warn(facts, 'alert raised');
    return true;
  }
  if (!alert) return false;
  if (step.to === 'calm') await setCalm(db, alert.id, step.calm);
  if (step.to !== 'resolved') return false;
  await resolveAlert(db, clock, row, alert, reading);
  log.info(facts, 'alert resolved');
  return true;
}

function isoNow(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

export interface EvaluationLoopParts extends EvaluationParts {
  /** From the start of one round to the start of the next, ms. */
  readonly everyMs: number;
  /** Called after each round. */
  readonly onRound?: (ms: number, open: ReadonlyMap<AlertKind, number>) => void;
}

/**
 * The first round runs one interval after the start, so that rounds are never closer, whatever restarts happen. Returns
 * a function that stops the rounds.
 */
export function startEvaluation(parts: EvaluationLoopParts): () => Promise<void> {
  const { clock, db, everyMs, log, onRound } = parts;
  let ended = false;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  const round = () => {
    const began = clock.elapsed();
    running = evaluateAlerts(parts)
      .then(async () => onRound?.(clock.elapsed() - began, await countOpen(db)))
      .catch((error: unknown) => log.error({ err: error }, 'alerts could not be evaluated'))
      .then(() => {
        if (!ended) timer = clock.after(Math.max(0, began + everyMs - clock.elapsed()), round);
      });
  };
  timer = clock.after(everyMs, round);
  return async () => {
    ended = true;
    timer.cancel();
    await running;
  };
}
