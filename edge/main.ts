/** The edge as a program. Enables the compile cache before loading anything else. */
import { resolve } from 'node:path';
import { keepCompiled } from '#shared/compile-cache.ts';
import { ownerOnly } from '#shared/private-folder.ts';

ownerOnly();
// Same default as in the settings; the program reads and validates them.
keepCompiled(resolve(process.env.TRUNKLINE_DATA?.trim() || 'data'));
const { runEdge } = await import('./program.ts');
await runEdge();
