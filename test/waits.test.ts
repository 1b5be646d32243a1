/**
 * The limits of vitest.config.ts find what hangs. No wait and no test has a shorter one, which a busy machine could
 * exceed; `vi.waitFor` gives up after a second, so tests wait with `expect.poll`.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const shortestLimitMs = 30_000;
const shortestTestMs = 240_000;

/** What a file has of waits that end too early, and of tests. */
function hasty(text: string): string[] {
  const ownLimits = [
    ...text.matchAll(/^ *\}, ([\d_]{5,})\);$/gm),
    ...text.matchAll(/, \{ timeout: ([\d_]{5,}) \}, (?:async )?\(/g),
  ]
    .map(([, ms = '']) => Number(ms.replaceAll('_', '')))
    .filter((ms) => ms >= shortestLimitMs && ms < shortestTestMs)
    .map((ms) => `a test of ${ms} ms`);
  const short = [...text.matchAll(/\bpoll\([^;]*?\{ timeout: ([\d_]+)/g)]
    .map(([, ms = '']) => ms)
    .filter((ms) => Number(ms.replaceAll('_', '')) < shortestLimitMs)
    .map((ms) => `poll for ${ms} ms`);
  return [...ownLimits, ...short, ...(text.match(/\bvi\.wait(?:For|Until)\(/g) ?? [])];
}

test('no test gives up waiting before a busy machine has done it', () => {
  const files = globSync('{shared,outgoing,edge,control,test}/**/*.ts', { cwd: root }).filter(
    (file) => file.startsWith('test/kit/') || file.endsWith('.test.ts'),
  );
  expect(files.length).toBeGreaterThan(400);
  const found = files
    .filter((file) => file !== 'test/waits.test.ts')
    .flatMap((file) => hasty(readFileSync(join(root, file), 'utf8')).map((what) => `${file}: ${what}`));
  expect(found).toEqual([]);
});

test.each([
  ['await expect.poll(() => x, { timeout: 20_000 }).toBe(1);', 1],
  ['await expect.poll(\n  () => x,\n  { timeout: 5000, interval: 5 },\n).toBe(1);', 1],
  ['await vi.waitFor(() => expect(x).toBe(1));', 1],
  ["it('x', async () => {\n}, 180_000);", 1],
  ["it('x', { timeout: 60_000 }, async () => {\n});", 1],
  ["it('x', async () => {\n}, 600_000);", 0],
  ['await expect.poll(() => x, { timeout: 60_000 }).toBe(1);', 0],
  ['await expect.poll(() => x, { interval: 5 }).toBe(1);', 0],
  ['await expect.poll(() => x).toBe(1);\nawait call({ timeout: 5 });', 0],
])('%j is classified correctly', (text, count) => expect(hasty(text)).toHaveLength(count));
