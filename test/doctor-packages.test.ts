/** The doctor of a package, which has the checks of its own program alone. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { otherDoctors, whyNotHere } from '../scripts/doctor/other-package.ts';
import { loadParts } from '../scripts/doctor/parts.ts';

const folder = mkdtempSync(join(tmpdir(), 'packages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const all = await loadParts();
const ofControl = { ...all, edge: null };

it('has all checks in a checkout', () => {
  expect(otherDoctors(all, folder)).toEqual([]);
  expect(whyNotHere(['edge', 'control'], [])).toBeNull();
});

it('says which package has the checks that were asked for', () => {
  const others = otherDoctors(ofControl, folder);
  expect(whyNotHere(['edge'], others)).toBe(
    'the checks of edge are in the package trunkline-edge, which is not installed here',
  );
  expect(whyNotHere(['control'], others)).toBeNull();
  expect(whyNotHere([], others)).toBeNull();
});

it('names the command of the other package where that is installed', () => {
  const file = join(folder, 'trunkline-edge', 'bin', 'trunkline');
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '');
  expect(whyNotHere(['edge'], otherDoctors(ofControl, folder))).toBe(
    `the checks of edge are in its own package: ${file} doctor`,
  );
});
