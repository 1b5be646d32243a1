/**
 * All background work of a control plane, in the order in which it begins and ends:
 *
 *     made --begin--> running --hold--> held --close--> closed
 *
 * Nothing begins before the program listens and has said so: work that ends the program must not keep it from coming up.
 */
import type { BackgroundWork } from './db/index.ts';

export interface BackgroundParts {
  readonly tornado: BackgroundWork & { resume(): Promise<void> };
  readonly testRuns: BackgroundWork & { start(): void };
  /** Starts everything that needs no order. */
  readonly startOthers: () => BackgroundWork;
}

export interface Background extends BackgroundWork {
  /** Asked again it is the same begin; nothing begins after `hold` or `close`. @throws Error when the database cannot be read */
  begin(): Promise<void>;
}

export function createBackground({ tornado, testRuns, startOthers }: BackgroundParts): Background {
  let isHeld = false;
  let others: BackgroundWork | null = null;
  let begun: Promise<void> | null = null;
  const begin = async () => {
    if (isHeld) return;
    // First: which sessions wait must be known before test runs tell of the ends of batches.
    await tornado.resume();
    if (isHeld) return;
    testRuns.start();
    others = startOthers();
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
      // The caller of begin gets its failure.
      await begun?.catch(() => undefined);
      await tornado.close();
      await testRuns.close();
      await others?.close();
    },
  };
}
