import { expect, test } from 'vitest';
import { Identity } from './identity.ts';

test('our address is that of the connection asked about, in any order', () => {
  const identity = new Identity(null, { host: '0.0.0.0', port: 5061 }, { host: '0.0.0.0', port: 8443 });
  for (let round = 0; round < 2; round++) {
    expect(identity.hostPort('tls', '192.0.2.1')).toBe('192.0.2.1:5061');
    expect(identity.hostPort('wss', '192.0.2.1')).toBe('192.0.2.1:8443');
    expect(identity.hostPort('wss', '2001:db8::1')).toBe('[2001:db8::1]:8443');
    expect(identity.hostPort('tls', '2001:db8::1')).toBe('[2001:db8::1]:5061');
  }
});
