/** The static checks. All run, so that all results are shown at once. */
import { type StdioOptions, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

export const root = dirname(import.meta.dirname);

/**
 * Each list one after the other, the lists at the same time: one takes about as long as the other. A second checker of
 * tsc would work out most of the types that the first one has, too, for half as much CPU time again.
 */
const checks = [
  [['tsc', '-p', '.', '--checkers', '1']],
  [['biome', 'check', '--error-on-warnings', '.'], ['tsc', '-p', 'console'], ['knip']],
] as const;

/**
 * @param say gets what a check has found, when it has ended
 * @returns whether all passed
 */
export async function runChecks(
  say: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<boolean> {
  const passed = await Promise.all(
    checks.map(async (list) => {
      let all = true;
      for (const [tool, ...args] of list) {
        const { code, output } = await outputOf(tool, args);
        say(`> ${[tool, ...args].join(' ')}\n${output}`);
        if (code !== 0) all = false;
      }
      return all;
    }),
  );
  return passed.every(Boolean);
}

/** Runs a program from node_modules/.bin on the terminal. @returns its exit code, 128 when a signal ended it */
export function runTool(tool: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  return exitOf(start(tool, args, 'inherit', env));
}

/** Runs Node on the terminal, without its warnings. @returns its exit code, 128 when a signal ended it */
export function runProgram(args: readonly string[]): Promise<number> {
  const env = { ...process.env, NODE_NO_WARNINGS: '1' };
  return exitOf(spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env }));
}

/** What it writes, whole, so that tools that run at the same time do not mix their lines. */
async function outputOf(
  tool: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const colors = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = start(tool, args, ['ignore', 'pipe', 'pipe'], colors);
  const read = (stream: typeof child.stdout) => (stream ? text(stream) : '');
  const [code, ...written] = await Promise.all([exitOf(child), read(child.stdout), read(child.stderr)]);
  return { code, output: written.join('') };
}

function start(tool: string, args: readonly string[], stdio: StdioOptions, env: NodeJS.ProcessEnv) {
  const bin = join(root, 'node_modules', '.bin');
  return spawn(join(bin, tool), args, {
    cwd: root,
    stdio,
    // The tools start with `#!/usr/bin/env node`, which must be Node 24.
    env: { ...process.env, ...env, PATH: `${bin}:${process.env.PATH ?? ''}` },
  });
}

function exitOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 128));
  });
}
