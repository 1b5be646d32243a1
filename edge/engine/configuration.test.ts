import { describe, expect, it } from 'vitest';
import type { EngineConfiguration } from '#shared/engine-protocol/configuration.ts';
import { parseConfiguration, stackOptions } from './configuration.ts';

const valid = {
  tls: { host: '0.0.0.0', port: 5061, cert: 'cert.pem', key: 'key.pem' },
  wss: null,
  publicHost: null,
  app: { host: '127.0.0.1', port: 0, secret: 's' },
  clientTls: { ca: null, folder: null },
  hep: null,
};

describe('the configuration line', () => {
  it('may omit the limits, all or some', () => {
    const configuration = parseConfiguration(JSON.stringify(valid));
    expect(stackOptions(configuration)).toMatchObject({ requestsPerSecond: 10_000, maxTransactions: 50_000 });
    const limited: EngineConfiguration = {
      ...configuration,
      limits: { requestsPerSecond: 5, maxConnections: 7 },
    };
    expect(stackOptions(limited)).toMatchObject({
      requestsPerSecond: 5,
      transport: { limits: { maxConnections: 7, idleTimeoutMs: 600_000 } },
    });
  });

  it.each([
    ['nonsense', 'must be the configuration in JSON'],
    [JSON.stringify({ ...valid, tls: undefined }), 'must have required properties tls'],
    [JSON.stringify({ ...valid, limits: { foo: 1 } }), 'at /limits/foo: unknown setting'],
    [JSON.stringify({ ...valid, app: { ...valid.app, port: 70_000 } }), 'at /app/port'],
  ])('is rejected with the position of the error: %s', (line, message) => {
    expect(() => parseConfiguration(line)).toThrow(message);
  });

  it('names the file that cannot be read', () => {
    const options = stackOptions(parseConfiguration(JSON.stringify(valid)));
    expect(() => options.transport.certificates()).toThrow('server certificate: cannot read cert.pem');
  });
});
