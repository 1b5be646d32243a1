/** The static checks, one after the other. All run, so that all results are shown at once. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';

export const root = dirname(import.meta.dirname);

const checks = [
  ['biome', 'check', '--error-on-warnings', '.'],
  ['tsc', '-p', '.'],
  ['tsc', '-p', 'console'],
  ['knip'],
] as const;

/** @returns whether all passed */
export async function runChecks(): Promise<boolean> {
  let passed = true;
  for (const [tool, ...args] of checks) {
    console.log(`> ${[tool, ...args].join(' ')}`);
    if ((await runTool(tool, args)) !== 0) passed = false;
  }
  return passed;
}

/** Runs a program from node_modules/.bin on the terminal. @returns its exit code, 128 when a signal ended it */
export function runTool(tool: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const bin = join(root, 'node_modules', '.bin');
  return new Promise((resolve, reject) => {
    const child = spawn(join(bin, tool), args, {
      cwd: root,
      stdio: 'inherit',
      // The tools start with `#!/usr/bin/env node`, which must be Node 24.
      env: { ...process.env, ...env, PATH: `${bin}:${process.env.PATH ?? ''}` },
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 128));
  });
}
