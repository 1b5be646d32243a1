/** A media shard as a thread. Enables the compile cache before loading anything else. */
import { workerData } from 'node:worker_threads';
import { keepCompiled } from '#shared/compile-cache.ts';
import type { ShardSettings } from './shard-settings.ts';

const settings = workerData as ShardSettings;
keepCompiled(settings.dataDir);
const { runShard } = await import('./shard-program.ts');
await runShard(settings);
