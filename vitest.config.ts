import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Two projects. `unit` stands beside the code and runs in parallel; `system` starts real programs (engine,
 * edge, control, SIPp, baresip) and runs file after file, because two cores carry one system at a time.
 *
 * The files of `unit` share a process and with it what is imported and compiled once: starting afresh for each
 * costs more than all the tests. So no module may keep a state that a test can see.
 */
export default defineConfig({
  test: {
    // Most of a unit test's time is computing, so every core takes a share.
    maxWorkers: '100%',
    // The programs that tests start need not be compiled anew each time.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/node') },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{shared,edge,control}/**/*.test.ts',
            'test/{torture,fuzz}/**/*.test.ts',
            'test/*.test.ts',
          ],
          pool: 'forks',
          isolate: false,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/{sipp,peers,system}/**/*.test.ts'],
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
