/** Limits of requests at two replicas: on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { killReplica } from '../../test/kit/db/replicas.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../../test/kit/db/test-database.ts';

describe.skipIf(onSqlite)('two replicas', () => {
  let database: TestDatabase;
  let first: TestControl;
  let second: TestControl;
  const start = () => startControl({ DATABASE_URL: database.address, RATE_LIMIT_PER_MINUTE: '40' });
  beforeEach(async () => {
    database = await takeDatabase();
    first = await start();
    second = await start();
    await expect.poll(() => first.control.services.bus.transients.peers.size).toBe(1);
  });
  afterEach(async () => {
    await first.close();
    await second.close();
    await database.release();
  });

  const ask = async (at: TestControl, key: string) => (await at.call('GET', '/v1/pathway', { key })).status;
  /** How many of the requests, sent at the same time to both, were answered with `status`. */
  const atOnce = async (keys: readonly string[], status: number) => {
    const answers = await Promise.all(keys.map((key, index) => ask(index % 2 === 0 ? first : second, key)));
    return answers.filter((answer) => answer === status).length;
  };

  it('let one key have its limit once, or one request of each more', async () => {
    const through = await atOnce(
      Array.from({ length: 100 }, () => first.key),
      200,
    );
    expect(through).toBeGreaterThanOrEqual(40);
    expect(through).toBeLessThan(40 + 2);
  });

  it('let a key that uses one of them have its whole limit there', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(second, first.key)));
    expect(answers.filter((answer) => answer === 200)).toHaveLength(40);
    // One more may pass before it has heard of the last.
    await expect.poll(() => ask(first, first.key)).toBe(429);
  });

  it('answer the guesses of one network together', async () => {
    const keys = Array.from({ length: 80 }, (_, index) => `tk_${index}`);
    const answered = await atOnce(keys, 401);
    expect(answered).toBeGreaterThanOrEqual(30);
    expect(answered).toBeLessThan(30 + 2);
  });

  it('know what another has let through that is dead or has just been replaced', async () => {
    for (let asked = 0; asked < 40; asked++) await ask(first, first.key);
    await killReplica(first.control.services.database, first.control.services.replica);
    await expect.poll(() => ask(second, first.key)).toBe(429);
    const third = await start();
    await expect.poll(() => ask(third, first.key)).toBe(429);
    await third.close();
  });
});
