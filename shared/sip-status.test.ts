import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endsDialog, failsOver, isTemporary, meaningOf, statusMeanings, unansweredBy } from './sip-status.ts';

const statuses = Object.keys(statusMeanings).map(Number);
const only = (holds: (status: number) => boolean) => statuses.filter(holds);

it('names the statuses of calls that are busy or not answered', () => {
  expect(only((status) => unansweredBy(status) === 'busy')).toEqual([486, 600]);
  expect(only((status) => unansweredBy(status) === 'no_answer')).toEqual([480]);
  expect(unansweredBy(null)).toBeNull();
});

it('names the statuses after which another server is tried, or the same one later', () => {
  expect(only(failsOver)).toEqual([408, 503]);
  expect(only((status) => isTemporary(status) && status < 500)).toEqual([408, 480, 491]);
  expect(only((status) => isTemporary(status) && status >= 600)).toEqual([]);
  expect(only((status) => status >= 500 && status < 600 && !isTemporary(status))).toEqual([]);
});

it('names the statuses of a peer that no longer has the dialog', () => {
  expect(only(endsDialog)).toEqual([408, 481]);
});

it('gives an unknown status the meaning of its class', () => {
  expect([399, 499, 599, 699].map(meaningOf)).toEqual(['redirected', 'protocol', 'server_failed', 'busy']);
});

it('is the only place that compares statuses of unanswered calls', () => {
  const root = join(import.meta.dirname, '..');
  const comparing = ['edge', 'control'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => join(folder, file))
      .filter((file) => /[!=]== (?:486|600|603|480)\b/.test(readFileSync(join(root, file), 'utf8'))),
  );
  expect(comparing).toEqual([]);
});
