/** A media shard as a thread. Enables what makes loading fast before loading anything else. */
import { flushCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';
import { keepCompiled } from '#shared/compile-cache.ts';
import { findModulesByPath } from '#shared/own-modules.ts';
import type { ShardSettings } from './shard-settings.ts';

const settings = workerData as ShardSettings;
keepCompiled(settings.dataDir);
findModulesByPath();
const { runShard } = await import('./shard-program.ts');
await runShard(settings);
// As the program's (shared/optimizers.ts): each thread keeps its own.
flushCompileCache();
