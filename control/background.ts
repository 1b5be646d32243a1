/**
 * All background work of a control plane, in order of start and stop:
 *
 *     made --begin--> running --hold--> held --close--> closed
 *
 * Nothing starts before the program listens and has said so: work that crashes the program must not keep it from coming
 * up.
 */
import type { BackgroundWork } from './db/index.ts';

export interface BackgroundParts {
  readonly tornado: BackgroundWork & { resume(): Promise<void> };
  readonly testRuns: BackgroundWork & { start(): void };
  /** Starts all work that needs no order. */
  readonly startOthers: () => BackgroundWork;
  /** Resolves when this replica has the leases that are free, and does their work. */
  readonly settled: () => Promise<void>;
}

export interface Background extends BackgroundWork {
  /**
   * Later calls return the same promise; nothing starts after `hold` or `close`. @throws Error when the database cannot
   * be read
   */
  begin(): Promise<void>;
}

export function createBackground({ tornado, testRuns, startOthers, settled }: BackgroundParts): Background {
  let isHeld = false;
  let others: BackgroundWork | null = null;
  let begun: Promise<void> | null = null;
  const begin = async () => {
    if (isHeld) return;
    // First: waiting sessions must be known before test runs report finished batches.
    await tornado.resume();
    if (isHeld) return;
    testRuns.start();
    others = startOthers();
    await settled();
  };
  const hold = () => {
    isHeld = true;
    tornado.hold();
    testRuns.hold();
    others?.hold();
  };
  return {
    begin: () => {
      begun ??= begin();
      return begun;
    },
    hold,
    close: async () => {
      hold();
      // The failure goes to the caller of begin.
      await begun?.catch(() => undefined);
      await tornado.close();
      await testRuns.close();
      await others?.close();
    },
  };
}
