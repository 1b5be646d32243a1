/** The set-up goes on without the libraries of G.722 and G.729, and says so. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ensureAptPackages, ensureOptionalPackages } from '../scripts/setup/apt.ts';

const path = process.env.PATH;
let folder: string;

/** A machine where nothing is installed and nothing can be. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-optional-'));
  const program = (name: string, text: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  program('dpkg-query', 'exit 1');
  program('apt-get', 'echo "E: Unable to locate package" >&2; exit 100');
  program('sudo', 'exit 1');
  process.env.PATH = [folder, path].join(delimiter);
});
afterEach(() => {
  process.env.PATH = path;
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test('what is optional and cannot be installed is named, and the set-up goes on', async () => {
  const said = vi.spyOn(console, 'log').mockImplementation(() => {});
  await ensureOptionalPackages(['libspandsp2|libspandsp2t64', 'libbcg729-0'], 'offer G.722 and G.729');
  const text = said.mock.calls.flat().join('\n');
  expect(text).toContain('needed to offer G.722 and G.729');
  expect(text).toContain('libspandsp2 libbcg729-0');
  expect(text).toMatch(/going on without them$/);
});

test('what is needed and cannot be installed ends it', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  await expect(ensureAptPackages(['libopus0'], 'run the media worker')).rejects.toThrow(
    /run the media worker/,
  );
});
