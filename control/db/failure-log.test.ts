import { expect, it } from 'vitest';
import { FailureLog } from './failure-log.ts';

it('has the first failure, each other one, and one after work that succeeded', () => {
  const lines: unknown[] = [];
  const log = new FailureLog({ error: (facts, message) => void lines.push([facts, message]) }, 'not done');
  const refused = new Error('refused');
  const full = new Error('full');
  for (let i = 0; i < 60; i++) log.failed(refused);
  log.failed(new Error('refused'));
  log.failed(full);
  log.failed(refused);
  log.worked();
  log.failed(refused);
  expect(lines).toEqual([refused, full, refused, refused].map((err) => [{ err }, 'not done']));
});
