/** Both programs reject settings of earlier versions before they do anything else. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testedFile } from './kit/programs/built-programs.ts';

const root = join(import.meta.dirname, '..');

test.each(['control', 'edge'])(
  '%s names each of them and what to do, and writes nothing',
  (program) => {
    const folder = mkdtempSync(join(tmpdir(), 'former-settings-'));
    try {
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      const env = {
        PATH,
        NODE_COMPILE_CACHE,
        TRUNKLINE_DATA: folder,
        TRACE_DAYS: '7',
        RING_TIMEOUT_S: '30',
      };
      const file = testedFile(join(root, program, 'main.ts'));
      const { status, stderr } = spawnSync(process.execPath, [file], { env, encoding: 'utf8' });
      expect(stderr).toContain('TRACE_DAYS is no longer a setting: set RETENTION_DAYS=traces=7 instead');
      expect(stderr).toContain('RING_TIMEOUT_S is no longer a setting: its value is fixed at 60 s');
      expect([status, readdirSync(folder)]).toEqual([1, []]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  120_000,
);
