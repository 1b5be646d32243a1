/**
 * Notifies the operator by mail and webhook when a disk cannot be written. It stores nothing: it has to work while the
 * database cannot be written, and after a restart it checks again. Of several replicas one sends (`OperatorTurn`), and
 * tells the others what it has sent; while the database is away, each does.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock, Timer } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import { failingStorages } from '../recordings/index.ts';
import type { AlertDeps } from './deps.ts';
import { redacted, threadDomain } from './notice-rules.ts';
import { withLimit } from './notices.ts';
import {
  messageGapMs,
  messageOf,
  observe,
  reportedAfter,
  type StorageLevel,
  type StorageTrouble,
} from './operator-rules.ts';
import type { OperatorTurn } from './operator-turn.ts';
import { errorText, type NoticeSender, type OutgoingNotice } from './senders.ts';

/** Between two checks. The first comes this long after the start, so that programs that crash at once send nothing. */
const lookMs = 5_000;
/** After a failed attempt, ms; the last value repeats. */
const pauses: readonly number[] = [15_000, 60_000, messageGapMs];

export interface OperatorTarget {
  readonly channel: 'email' | 'webhook';
  readonly address: string;
  readonly sender: NoticeSender;
}

export interface OperatorParts {
  readonly clock: Clock;
  readonly log: FastifyBaseLogger;
  readonly targets: readonly OperatorTarget[];
  readonly turn: OperatorTurn;
  /** Readings of everything that answers now: null where the disk is writable. */
  readonly read: () => Promise<ReadonlyMap<string, StorageLevel | null>>;
  readonly mailFrom: string;
  /** The deployment's name in messages. */
  readonly deployment: string;
  /** Timeout of one attempt, ms. */
  readonly timeoutMs: number;
  readonly onAttempt: (channel: 'email' | 'webhook', outcome: 'delivered' | 'again' | 'given_up') => void;
}

interface State {
  readonly target: OperatorTarget;
  reported: Map<string, StorageLevel>;
  nextAt: number;
  failures: number;
  /** Message-ID of the first message since the last full recovery. */
  thread: string | null;
  running: Promise<void> | null;
}

/** Returns a function that stops this and aborts messages being sent. */
export function startOperatorAlerts(parts: OperatorParts): () => Promise<void> {
  const { clock, log, read, targets, turn } = parts;
  if (targets.length === 0) return async () => {};
  const ending = new AbortController();
  const states = targets.map(
    (target): State => ({ target, reported: new Map(), nextAt: 0, failures: 0, thread: null, running: null }),
  );
  turn.onTold(({ address, reported, thread }) => {
    const state = states.find(({ target }) => turn.nameOf(target.address) === address);
    if (!state) return;
    state.reported = new Map(reported);
    state.thread = thread;
  });
  let troubles: ReadonlyMap<string, StorageTrouble> = new Map();
  let looking: Promise<void> = Promise.resolve();
  let timer: Timer;
  const look = async () => {
    const readings = await read();
    const before = troubles;
    troubles = observe(before, readings, clock.now());
    for (const state of states) {
      // A subject forgotten unseen is not reported as recovered.
      for (const subject of state.reported.keys())
        if (!troubles.has(subject) && readings.get(subject) !== null) state.reported.delete(subject);
      const message = messageOf(state.reported, troubles, readings, parts.deployment);
      if (message === null || state.running !== null || clock.elapsed() < state.nextAt) continue;
      if (!turn.isOurs) continue;
      const reported = reportedAfter(state.reported, troubles);
      state.running = deliver(parts, state, message, reported, ending.signal).finally(() => {
        state.running = null;
      });
    }
  };
  const round = () => {
    looking = look()
      .catch((error: unknown) => log.error({ err: error }, 'disks could not be checked'))
      .then(() => {
        if (!ending.signal.aborted) timer = clock.after(lookMs, round);
      });
  };
  timer = clock.after(lookMs, round);
  return async () => {
    ending.abort();
    timer.cancel();
    await looking;
    await Promise.all(states.map(({ running }) => running));
  };
}

async function deliver(
  parts: OperatorParts,
  state: State,
  message: { readonly subject: string; readonly text: string },
  reported: Map<string, StorageLevel>,
  ending: AbortSignal,
): Promise<void> {
  const { clock, log, onAttempt } = parts;
  const { address, channel, sender } = state.target;
  const id = newId();
  const messageId = `<operator.${id}@${threadDomain(parts.mailFrom)}>`;
  const notice: OutgoingNotice = {
    id,
    recipient: address,
    ...message,
    messageId,
    ...(state.thread !== null && { references: state.thread }),
    createdAt: clock.now(),
  };
  const result = await withLimit(parts, ending, (signal) =>
    sender.send(notice, signal).catch((error: unknown) => ({
      outcome: 'unavailable' as const,
      error: errorText(error),
    })),
  );
  const facts = { notice: id, channel, subject: message.subject };
  if (result.outcome === 'unavailable') {
    state.nextAt = clock.elapsed() + (pauses[Math.min(state.failures, pauses.length - 1)] ?? messageGapMs);
    state.failures += 1;
    onAttempt(channel, 'again');
    log.warn({ ...facts, error: withoutAddress(result.error, address) }, "operator's alert failed");
    return;
  }
  // A permanently rejected message is not resent; the next news is.
  state.failures = 0;
  state.nextAt = clock.elapsed() + messageGapMs;
  state.reported = reported;
  state.thread = reported.size === 0 ? null : (state.thread ?? messageId);
  parts.turn.tell(address, [...reported], state.thread);
  if (result.outcome === 'sent') {
    onAttempt(channel, 'delivered');
    log.info(facts, "operator's alert delivered");
    return;
  }
  onAttempt(channel, 'given_up');
  log.error({ ...facts, error: withoutAddress(result.error, address) }, "operator's alert was rejected");
}

/** A webhook's URL is a secret, as with most chat services. */
function withoutAddress(error: string, address: string): string {
  return error.replaceAll(address, redacted(address));
}

const unknown: ReadonlyMap<string, boolean> = new Map();

/** Reads the state of control's database, every connected edge, and the storages of recordings. */
export async function readStorage({
  clock,
  database,
  edges,
}: Pick<AlertDeps, 'clock' | 'database' | 'edges'>): Promise<Map<string, StorageLevel | null>> {
  const { failing, refusing } = edges.storage;
  const level = (edgeId: string): StorageLevel | null =>
    refusing.includes(edgeId) ? 'refusing' : failing.includes(edgeId) ? 'failing' : null;
  const fault = await database.storageFault();
  // Unknown while the database is away.
  const known = fault === null ? failingStorages(database.db, clock.now()) : Promise.resolve(unknown);
  const storages = await known.catch(() => unknown);
  return new Map<string, StorageLevel | null>([
    ['control', fault === null ? null : 'failing'],
    ...edges.all.map(({ edgeId }) => [`edge ${edgeId}`, level(edgeId)] as const),
    ...[...storages].map(([name, isFailing]) => [name, isFailing ? 'away' : null] as const),
  ]);
}
