/** Loaded into an edge by `--import`: a media shard fails, as by a bug in it, when a file with its name appears. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread, threadName } from 'node:worker_threads';

if (!isMainThread && threadName.startsWith('media shard')) {
  const file = join(process.env.TRUNKLINE_DATA ?? '', `fault in ${threadName}`);
  setInterval(() => {
    try {
      rmSync(file);
    } catch {
      return;
    }
    throw new Error('a fault in a media shard, made by a test');
  }, 20).unref();
}
