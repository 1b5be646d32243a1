/** One control plane for all tests of a file, with organizations of its own for each test. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { SipNumbers } from '#shared/api/sip.ts';
import { type SharedControl, shareEmptied, shareRoutes, type TestControl } from './harness.ts';

/**
 * Call it where the file begins. What it returns is the control plane of the present test; only inside of tests and
 * hooks. A start takes several times as long as such a test; for tests that look at their organizations alone.
 */
export const routesOfFile = (env: Readonly<Record<string, string>> = {}): TestControl =>
  ofFile(() => shareRoutes(env));

/**
 * As `routesOfFile`, of any control plane, and for tests that look at all there is: its database is emptied before each of
 * them. Call it where a file or a `describe` begins.
 */
export const emptiedForEach = <T extends TestControl>(start: () => Promise<T>): T =>
  ofFile(() => shareEmptied(start));

function ofFile<T extends TestControl>(share: () => Promise<SharedControl<T>>): T {
  let shared: SharedControl<T>;
  let test: T;
  beforeAll(async () => {
    shared = await share();
  });
  beforeEach(async () => {
    test = await shared.next();
  });
  afterAll(() => shared.close());
  return new Proxy<T>(Object.create(null), { get: (_, name) => Reflect.get(test, name) });
}

/** For tests with phone numbers: the next one may attach them to its own organization. */
export function numbersOfEachTest(test: TestControl): void {
  afterEach(async () => {
    for (const key of [test.key, test.foreignKey]) {
      const { numbers } = (await test.call('GET', '/v1/sip/numbers', { key })).read(SipNumbers).data;
      const phone_numbers = numbers.map(({ phone_number }) => phone_number);
      const body = { phone_numbers, directions: ['inbound', 'outbound'] };
      if (numbers.length > 0) await test.call('POST', '/v1/sip/detach', { key, body });
    }
  });
}
