import { expect, test } from 'vitest';
import { requireAllowedHost } from './allowed-host.ts';
import { parseNetworks } from './outgoing-targets.ts';

test('a host that must not be contacted is refused with its place, its reason and what to do', () => {
  const refuse = () => requireAllowedHost('10.0.0.5', '/directions/1/sip_endpoint', parseNetworks([]));
  expect(refuse).toThrow(
    expect.objectContaining({
      items: [
        {
          error: 'TARGET_NOT_ALLOWED',
          code: 'TARGET_NOT_ALLOWED',
          message:
            '10.0.0.5 is a private address: name a public one, or ask the operator to allow its network (ALLOW_PRIVATE_TARGETS).',
          details: { path: '/directions/1/sip_endpoint', address: '10.0.0.5' },
        },
      ],
    }),
  );
});

test('public addresses, names, and addresses of a listed network pass', () => {
  for (const host of ['8.8.8.8', 'pbx.example.com', '10.0.0.5']) {
    expect(() => requireAllowedHost(host, '/host', parseNetworks(['10.0.0.0/8']))).not.toThrow();
  }
});
