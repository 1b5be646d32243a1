/** `npm run admin -- <command>`. Enables what makes loading fast before loading anything else. */
import { resolve } from 'node:path';
import { keepCompiled } from '#shared/compile-cache.ts';
import { findModulesByPath } from '#shared/own-modules.ts';

// Same default as in the settings; the command reads and validates them.
keepCompiled(resolve(process.env.TRUNKLINE_DATA?.trim() || 'data'));
findModulesByPath();
const { runCommandLine } = await import('./command-line.ts');
process.exitCode = await runCommandLine(process.argv.slice(2), { env: process.env, output: console });
