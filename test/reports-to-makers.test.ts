/** What an operator's host runs reports to its operator alone: no library of the programs sends usage to its maker. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesOf, installedIn, type Lock, packagesFor } from '../scripts/package/dependencies.ts';
import { loadedFrom } from '../scripts/package/modules.ts';
import { plans } from '../scripts/package/plan.ts';

const root = join(import.meta.dirname, '..');

/** Hosts to which makers of libraries have usage sent. */
const collectors = [
  'events.data.microsoft.com',
  'applicationinsights.azure.com',
  'google-analytics.com',
  'api.segment.io',
  'ingest.sentry.io',
  'api.amplitude.com',
  'posthog.com/',
  'telemetry.vercel.com',
];

test('no library of a program has the address of a collector of usage', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const names = plans.flatMap(({ entries }) => loadedFrom(root, entries).packages);
  const files = [...packagesFor(lock, names, installedIn(root)).keys()].flatMap((path) =>
    filesOf(root, path),
  );
  // Native code is searched too: what that sends, no source of ours shows.
  expect(files.some((file) => file.includes('libonnxruntime.so'))).toBe(true);
  const found = files.flatMap((file) => {
    const content = readFileSync(join(root, file));
    return collectors.filter((host) => content.includes(host)).map((host) => `${file}: ${host}`);
  });
  expect(found).toEqual([]);
});
