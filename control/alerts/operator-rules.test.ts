/** When the operator's disk alert begins, is repeated and ends; and its setting. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rounds } from '../../test/kit/long-test.ts';
import { readControlConfig } from '../settings/config.ts';
import {
  endsAfterMs,
  forgottenAfterMs,
  messageOf,
  observe,
  reportedAfter,
  type StorageLevel,
} from './operator-rules.ts';

describe('the rules', () => {
  const step = fc.record({
    level: fc.constantFrom<(StorageLevel | null | undefined)[]>(null, 'failing', 'refusing', undefined),
    other: fc.constantFrom<(StorageLevel | null | undefined)[]>(null, 'failing', undefined),
    ms: fc.integer({ min: 1, max: 200_000 }),
  });

  it('never repeats a message, never reports a false recovery, and reports everything in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let now = 0;
        let troubles = observe(new Map(), new Map(), now);
        let told = new Map<string, StorageLevel>();
        const look = (level: StorageLevel | null | undefined, other: StorageLevel | null | undefined) => {
          const readings = new Map<string, StorageLevel | null>();
          if (level !== undefined) readings.set('edge a', level);
          if (other !== undefined) readings.set('control', other);
          troubles = observe(troubles, readings, now);
          for (const subject of told.keys())
            if (!troubles.has(subject) && readings.get(subject) !== null) told.delete(subject);
          const message = messageOf(told, troubles, readings, 'test');
          if (message === null) return;
          for (const [subject, reading] of readings)
            if (reading !== null) expect(message.text).not.toContain(`${subject}: writes succeed again`);
          told = reportedAfter(told, troubles);
          expect(messageOf(told, troubles, readings, 'test')).toBeNull();
        };
        for (const { level, other, ms } of steps) {
          now += ms;
          look(level, other);
        }
        look(null, null);
        now += endsAfterMs;
        look(null, null);
        expect([troubles.size, told.size]).toEqual([0, 0]);
      }),
      { numRuns: rounds(500) },
    );
  });

  it('forgets an edge that has not been seen for a day, without a message', () => {
    const failing = observe(new Map(), new Map([['edge a', 'failing' as const]]), 0);
    expect(observe(failing, new Map(), forgottenAfterMs - 1).size).toBe(1);
    const gone = observe(failing, new Map(), forgottenAfterMs);
    expect(gone.size).toBe(0);
    expect(messageOf(new Map([['edge a', 'failing']]), gone, new Map(), 'test')).toBeNull();
  });
});

it.each([
  ['nobody', 'number 1 is neither'],
  ['night@example.com', 'SMTP_URL must be set'],
  ['ftp://example.com/x', 'number 1 is neither'],
  [Array.from({ length: 11 }, (_, n) => `https://example.com/${n}`).join(','), '10 addresses at most'],
])('rejects OPERATOR_ALERTS=%s', (value, words) => {
  expect(() => readControlConfig({ OPERATOR_ALERTS: value })).toThrow(words);
});
