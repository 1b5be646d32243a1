import { describe, expect, it } from 'vitest';
import { goalsOf, needsReason } from './states.ts';

describe('where an operator may move a port request', () => {
  it('only to an end before it is signed', () => {
    expect(goalsOf('waiting_for_signature')).toEqual(['failed', 'canceled']);
  });

  it('on, once it is signed', () => {
    expect(goalsOf('submitted')).toEqual(['in_progress', 'completed', 'failed', 'canceled']);
    expect(goalsOf('in_progress')).toContain('completed');
  });

  it('nowhere after its end', () => {
    expect((['completed', 'failed', 'canceled'] as const).flatMap(goalsOf)).toEqual([]);
  });

  it('with a reason when it ends without the numbers', () => {
    expect([needsReason('failed'), needsReason('canceled'), needsReason('completed')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
