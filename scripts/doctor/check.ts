/** What a check of `trunkline doctor` is, and how checks are run. */
import type { Place } from './place.ts';
import { reasonOf } from './reason.ts';

export type CheckState = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Finding {
  readonly state: CheckState;
  /** What was found; of a skipped check why. */
  readonly found: string;
  /** Null: nothing. */
  readonly advice: string | null;
}

export interface Check {
  /** `area.subject` */
  readonly name: string;
  /** The program that it is about. */
  readonly program: 'edge' | 'control' | 'both';
  /** What is checked, and what it needs, for docs/doctor.md. */
  readonly about: string;
  /** When it warns or fails, for docs/doctor.md. */
  readonly bad: string;
  /** May throw: the check has failed then. */
  readonly run: (place: Place) => Finding | Promise<Finding>;
}

export interface Result extends Finding {
  readonly name: string;
  readonly program: Check['program'];
}

export const ok = (found: string): Finding => ({ state: 'ok', found, advice: null });
export const warning = (found: string, advice: string): Finding => ({ state: 'warning', found, advice });
export const failed = (found: string, advice: string): Finding => ({ state: 'failed', found, advice });
export const skipped = (why: string): Finding => ({ state: 'skipped', found: why, advice: null });

/**
 * Runs the checks one after the other: none of them disturbs another's times.
 * @param longestMs after which a check counts as failed
 */
export async function runChecks(
  checks: readonly Check[],
  place: Place,
  longestMs = 15_000,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const check of checks) {
    const { name, program } = check;
    results.push({ name, program, ...(await findingOf(check, place, longestMs)) });
  }
  return results;
}

async function findingOf(check: Check, place: Place, longestMs: number): Promise<Finding> {
  const { program } = check;
  if (program !== 'both' && !place.scope.has(program))
    return skipped(`no ${program} on this machine: its data folder has none of its files`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    const advice =
      'see whether what it asks answers at all; run the doctor again when the machine has less to do';
    timer = setTimeout(() => resolve(failed(`no result within ${longestMs / 1000} s`, advice)), longestMs);
  });
  try {
    return await Promise.race([check.run(place), late]);
  } catch (error) {
    return failed(
      `the check could not be made: ${reasonOf(error)}`,
      'correct what it names, and run the doctor again',
    );
  } finally {
    clearTimeout(timer);
  }
}
