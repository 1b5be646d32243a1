import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertySeed } from './kit/property-seed.ts';

const root = dirname(import.meta.dirname);
const files = globSync('{shared,edge,control,scripts,test}/**/*.ts', { cwd: root });

test('a property check without a seed uses that of the run', () => {
  const seed = propertySeed(process.env.PROPERTY_SEED, () => fc.readConfigureGlobal().seed ?? 0);
  const { seed: used } = fc.check(fc.property(fc.nat(), () => {}));
  expect(used).toBe(seed);
});

test('a failing check prints the seed and how to set it', () => {
  const fails = fc.property(fc.nat(), (number) => number < 0);
  expect(() => fc.assert(fails)).toThrow(/seed: -?\d+[\s\S]*PROPERTY_SEED=-?\d+/);
});

test('a failing asynchronous check also prints the seed', async () => {
  const fails = fc.asyncProperty(fc.nat(), async (number) => number < 0);
  await expect(fc.assert(fails)).rejects.toThrow(/PROPERTY_SEED=-?\d+/);
});

test.each([
  [undefined, 20_300_101],
  ['7', 7],
  ['-7', -7],
  ['random', 42],
])('PROPERTY_SEED=%s is the seed %d', (text, seed) => {
  expect(propertySeed(text, () => 42)).toBe(seed);
});

test('rejects any other PROPERTY_SEED', () => {
  expect(() => propertySeed('soon', () => 42)).toThrow(/"soon"/);
});

/** Checks in `text` that set a seed. */
function ownSeeds(text: string): string[] {
  const checks = text.match(/\bfc\.(?:assert|check|sample)\([\s\S]*?\n? *\);\n/g) ?? [];
  return checks.filter((check) => /^\s*\{[^{}]*\bseed\b/m.test(check) || /\{[^{}]*\bseed: -?\d/.test(check));
}

test('no check sets its own seed, which PROPERTY_SEED could not change', () => {
  expect(ownSeeds('fc.assert(property, { seed: 5 });\n')).toHaveLength(1);
  expect(ownSeeds('fc.assert(\n  property,\n  { numRuns: 1, seed },\n);\n')).toHaveLength(1);
  const others = files.filter((file) => file !== 'test/property-seed.test.ts');
  expect(others.filter((file) => ownSeeds(readFileSync(join(root, file), 'utf8')).length > 0)).toEqual([]);
});

test('no other file configures fast-check', () => {
  const others = files.filter((file) =>
    readFileSync(join(root, file), 'utf8').includes('fc.configureGlobal('),
  );
  expect(others.sort()).toEqual(['test/kit/property-seed.ts', 'test/property-seed.test.ts']);
});
