/**
 * The nurseries (young objects) of V8's heaps in the edge. That of signaling grows from 4 to 16 MiB when many calls begin:
 * fewer objects are copied before they die, which is a twentieth of the edge's CPU time then. It takes 24 MiB, for which an
 * edge with few new calls has no use.
 *
 * Threads of audio and of the voice keep the small one: their objects die young or live as long as a call.
 *
 * The flags of the start (scripts/supervisor/node-flags.ts) say how small and how large: V8 reads those once in a heap's
 * life. The factor of growth it reads whenever it could grow one.
 */
import { setFlagsFromString } from 'node:v8';
import { type BusyRule, whenBusy } from '#shared/optimizers.ts';

/** Call before anything else is loaded: loading fills a nursery. */
export function holdNurseries(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  // Of the threads, whose heaps begin later.
  for (const limit of ['min', 'max']) setFlagsFromString(`--${limit}-semi-space-size=4`);
}

/** Busy for seconds: a hundred calls at once are over before. */
const busySignaling: BusyRule = { lookEveryMs: 1_000, waitingShare: 0.2, busyMs: 3_000 };

/** Call in the thread of signaling when all has been loaded. */
export function growNurseryWhenBusy(rule = busySignaling): void {
  whenBusy(rule, usedMs, () => setFlagsFromString('--semi-space-growth-factor=2'));
}

/** CPU time of this thread, ms. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
