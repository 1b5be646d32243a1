/** One control plane for all tests of a file, with organizations of its own for each test. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { SipNumbers } from '#shared/api/sip.ts';
import { type SharedControl, shareRoutes, type TestControl } from './harness.ts';

/**
 * Call it where the file begins. What it returns is the control plane of the present test; only inside of tests and
 * hooks. A start takes several times as long as such a test; for tests that look at their organizations alone.
 */
export function routesOfFile(env: Readonly<Record<string, string>> = {}): TestControl {
  let shared: SharedControl;
  let test: TestControl;
  beforeAll(async () => {
    shared = await shareRoutes(env);
  });
  beforeEach(async () => {
    test = await shared.next();
  });
  afterAll(() => shared.close());
  return {
    get control() {
      return test.control;
    },
    get clock() {
      return test.clock;
    },
    get orgId() {
      return test.orgId;
    },
    get key() {
      return test.key;
    },
    get foreignKey() {
      return test.foreignKey;
    },
    get foreignOrgId() {
      return test.foreignOrgId;
    },
    get plainKey() {
      return test.plainKey;
    },
    get operatorKey() {
      return test.operatorKey;
    },
    get edgeToken() {
      return test.edgeToken;
    },
    call: (...request) => test.call(...request),
    url: () => test.url(),
    close: async () => undefined,
  };
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
