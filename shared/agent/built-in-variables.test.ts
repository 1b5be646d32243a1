import { expect, it } from 'vitest';
import { builtInVariables } from './built-in-variables.ts';

const at = (now: string, timezone = 'America/New_York') =>
  builtInVariables({ from: '', to: '', callId: '', timezone, now: Date.parse(now) }).now;

it('says the time of the zone, to the minute, at each moment', () => {
  expect(at('2026-03-08T06:59:00.000Z')).toBe('Sunday, March 8, 2026 at 1:59 AM');
  expect(at('2026-03-08T06:59:59.999Z')).toBe('Sunday, March 8, 2026 at 1:59 AM');
  // Clocks go forward.
  expect(at('2026-03-08T07:00:00.000Z')).toBe('Sunday, March 8, 2026 at 3:00 AM');
  // Back in time, and two zones in turn.
  expect(at('2026-03-08T06:59:00.000Z')).toBe('Sunday, March 8, 2026 at 1:59 AM');
  expect(at('2026-03-08T06:59:00.000Z', 'Asia/Kolkata')).toBe('Sunday, March 8, 2026 at 12:29 PM');
  expect(at('2026-03-08T06:59:00.000Z')).toBe('Sunday, March 8, 2026 at 1:59 AM');
  expect(at('2026-03-08T06:59:00.000Z', 'No/Where')).toBe('Sunday, March 8, 2026 at 6:59 AM');
});
