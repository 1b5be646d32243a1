/** One control plane for all tests of a file, with organizations of its own for each test. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
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
