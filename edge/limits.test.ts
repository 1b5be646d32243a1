import { expect, it } from 'vitest';
import { withLimits } from '#shared/limits.ts';
import { edgeLimits } from './limits.ts';

it('are those of the product', () => {
  expect(edgeLimits).toMatchObject({
    strangers: { tries: 5, windowS: 60, blockS: 600, maxSources: 10_000 },
    calls: { ringAfterMs: 200, prepareTimeoutMs: 10_000, ringTimeoutMs: 60_000 },
    talk: { greetingMs: 5000 },
    answering: { watchMs: 20_000, greetingMs: 10_000 },
    consult: { acceptWithinMs: 15_000 },
    session: { expiresS: 1800, minS: 90 },
    refers: { subscriptionMs: 180_000, outcomeMs: 60_000 },
    probes: { intervalMs: 60_000, limitMs: 5_000, concurrency: 64 },
    failover: { failbackAfter: 3, failoverAfter: 2 },
    registration: {
      perSecond: 50,
      timeoutMs: 8_000,
      keepaliveMs: 30_000,
      retryMs: 5_000,
      retryMaxMs: 600_000,
      refusedPauseMs: 300_000,
    },
    testCaller: { turnEndMs: 1_000, patienceMs: 15_000, maxTurnSeconds: 120 },
    agentTests: { ringMs: 60_000, otherEndMs: 3_000, socketMs: 5_000 },
    models: { timeoutMs: 10_000, maxRetries: 2, maxTokens: 1024 },
  });
});

it('can be replaced one by one, and only for the program that is given others', () => {
  const others = withLimits(edgeLimits, { session: { expiresS: 240 }, engine: { connectTimeoutMs: 1 } });
  expect(others.session).toEqual({ expiresS: 240, minS: 90 });
  expect(others.engine).toEqual({ connectTimeoutMs: 1 });
  expect(others.talk).toEqual(edgeLimits.talk);
  expect([edgeLimits.session.expiresS, edgeLimits.engine]).toEqual([1800, {}]);
});
