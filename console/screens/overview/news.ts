/** Which events change what the first screen shows: the others cost control no reading. Pure. */
import type { LiveEvent } from '../../api/follow.ts';

/** One stream for all of the screen. */
export const overviewEvents = { types: 'call,trunk,registration,alert,test_run.ended' };

interface SeenNumber {
  readonly phone_number: string;
  readonly health_status: string;
}

export function isAlert({ type }: Pick<LiveEvent, 'type'>): boolean {
  return type.startsWith('alert.');
}

export function isTestRun({ type }: Pick<LiveEvent, 'type'>): boolean {
  return type.startsWith('test_run.');
}

/** Each probe of each trunk is told; nearly all say what the one before them said. */
export function mayChangeHealth(
  { type, subject, data }: Pick<LiveEvent, 'type' | 'subject' | 'data'>,
  numbers: readonly SeenNumber[],
): boolean {
  if (type === 'trunk.moved' || type === 'registration.changed') return true;
  if (type !== 'trunk.health') return false;
  const seen = numbers.find(({ phone_number }) => phone_number === subject.number);
  return seen?.health_status !== (data?.probe?.healthy ? 'healthy' : 'unreachable');
}
