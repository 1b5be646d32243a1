import { defineConfig } from 'vitest/config';

/**
 * Limits find what hangs; they measure nothing. On a machine with four times the load that it can carry all takes
 * many times as long.
 */
const poll = { timeout: 30_000 };

/**
 * Two projects, one after the other: `unit` stands beside the code, `system` starts real programs (engine, edge,
 * control, SIPp, baresip), which mostly wait for sound to pass, so that one core carries one system.
 *
 * The files of `unit` share a process and with it what is imported and compiled once: starting afresh for each
 * costs more than all the tests. So no module may keep a state that a test can see.
 */
export default defineConfig({
  test: {
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{shared,outgoing,edge,control}/**/*.test.ts',
            'test/{torture,fuzz,simulation}/**/*.test.ts',
            'test/*.test.ts',
          ],
          pool: 'forks',
          isolate: false,
          setupFiles: ['test/property-seed.ts'],
          testTimeout: 90_000,
          hookTimeout: 90_000,
          expect: { poll },
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/{sipp,peers,system}/**/*.test.ts'],
          pool: 'forks',
          sequence: { groupOrder: 1 },
          setupFiles: ['test/property-seed.ts'],
          testTimeout: 120_000,
          expect: { poll },
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
