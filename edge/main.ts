/** The edge as a program. Enables what makes loading fast before loading anything else. */
import { resolve } from 'node:path';
import { keepCompiled } from '#shared/compile-cache.ts';
import { loadUnoptimized } from '#shared/optimizers.ts';
import { findModulesByPath } from '#shared/own-modules.ts';
import { ownerOnly } from '#shared/private-folder.ts';
import { holdNurseries } from './nursery.ts';

loadUnoptimized();
holdNurseries();
ownerOnly();
// Same default as in the settings; the program reads and validates them.
keepCompiled(resolve(process.env.TRUNKLINE_DATA?.trim() || 'data'));
findModulesByPath();
const { runEdge } = await import('./program.ts');
await runEdge();
