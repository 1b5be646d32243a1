/** Restarts of each program at times given by the seed. Each kind comes before one comes twice. */
import type { Random } from '../simulation/random.ts';
import type { Role } from './deployment.ts';

export interface Restart {
  /** ms after the beginning of the load */
  readonly at: number;
  readonly role: Role;
  /** SIGTERM: as an operator, with a drain; SIGKILL: as a crash. */
  readonly signal: 'SIGTERM' | 'SIGKILL';
}

const kinds: readonly Omit<Restart, 'at'>[] = [
  { role: 'control', signal: 'SIGTERM' },
  { role: 'control', signal: 'SIGKILL' },
  { role: 'edge', signal: 'SIGTERM' },
  { role: 'edge', signal: 'SIGKILL' },
  { role: 'engine', signal: 'SIGKILL' },
  { role: 'media worker', signal: 'SIGKILL' },
];

/** A slope needs a process that lives for some thousand calls. */
const longestGapMs = 30 * 60_000;
/** Share of the run after which nothing is restarted, so that the last state of all programs is a settled one. */
const lastShare = 0.85;

/**
 * @param totalMs length of the load
 * @returns ten in the run, more in a run over five hours; the earliest after a tenth of it
 */
export function restartsOf(random: Random, totalMs: number): Restart[] {
  const gap = Math.min(longestGapMs, totalMs / 12);
  const restarts: Restart[] = [];
  let deck: Omit<Restart, 'at'>[] = [];
  for (let at = gap * (1 + random.next() / 2); at < totalMs * lastShare; at += gap * (0.5 + random.next())) {
    if (deck.length === 0) deck = shuffled(random, kinds);
    const kind = deck.pop();
    if (kind) restarts.push({ ...kind, at: Math.round(at) });
  }
  return restarts;
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: random.next() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ item }) => item);
}
