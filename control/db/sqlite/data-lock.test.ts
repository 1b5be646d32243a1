import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { holdDataFolder } from './data-lock.ts';

it('a data folder serves one control plane at a time', () => {
  const folder = mkdtempSync(join(tmpdir(), 'data-lock-'));
  try {
    const release = holdDataFolder(folder);
    expect(() => holdDataFolder(folder)).toThrow(
      /another control plane uses .*; stop it, or set another folder/,
    );
    release();
    holdDataFolder(folder)();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
