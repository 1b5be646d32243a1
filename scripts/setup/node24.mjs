import { spawn } from 'node:child_process';
import nodeModule from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensurePackages } from './packages.mjs';
import { reportTrouble } from './trouble.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Installs the packages when needed and runs a TypeScript program from `scripts/` on Node 24: in this process when it
 * already is Node 24 (npm puts node_modules/.bin first), else in a child that shares the terminal.
 *
 * @param {string} script file name, for example `start.ts`
 */
export function onNode24(script) {
  return reportTrouble(async () => {
    await ensurePackages(root);
    const file = join(root, 'scripts', script);
    // Programs started from here on use compiled code from this cache, which halves the start time.
    process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'node');
    const major = Number(process.versions.node.split('.')[0]);
    // This one too; the function is missing in Node 20.
    nodeModule.enableCompileCache?.(process.env.NODE_COMPILE_CACHE);
    if (major >= 24) await import(pathToFileURL(file).href);
    else process.exitCode = await runChild(join(root, 'node_modules', '.bin', 'node'), file);
  });
}

/** @returns {Promise<number>} the exit code, or 128 + the signal number, as in shells */
function runChild(node, file) {
  return new Promise((resolve, reject) => {
    const bin = dirname(node);
    const child = spawn(node, [file, ...process.argv.slice(2)], {
      stdio: 'inherit',
      env: { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` },
    });
    const pass = (signal) => void child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass);
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}
