/** The control plane as a program: what was compiled by an earlier start is at hand before all else is loaded. */
import { resolve } from 'node:path';
import { ownerOnly } from '#shared/private-folder.ts';
import { keepCompiled } from './compile-cache.ts';

ownerOnly();
// As the settings say; they are read, and checked, by the program.
keepCompiled(resolve(process.env.TRUNKLINE_DATA?.trim() || 'data'));
await import('./program.ts');
