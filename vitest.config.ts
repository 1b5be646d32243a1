import { defineConfig } from 'vitest/config';

/**
 * Two projects. `unit` stands beside the code and runs in parallel; `system` starts real programs (engine,
 * edge, control, SIPp, baresip) and runs file after file, because two cores carry one system at a time.
 */
export default defineConfig({
  test: {
    // Most of a unit test's time is computing, so every core takes a share.
    maxWorkers: '100%',
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
