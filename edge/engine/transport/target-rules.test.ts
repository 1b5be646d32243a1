import { expect, it } from 'vitest';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { checkTarget } from './target-rules.ts';

const allowed = parseNetworks(['10.1.0.0/16']);

it.each([
  ['a public address', ['93.184.215.14'], '8.8.8.8'],
  ['a private address that the operator allows', ['10.1.2.3'], '8.8.8.8'],
  ["a peer's own address in a private network", ['10.9.0.5'], '10.9.0.5'],
  ['the same in another notation', ['::ffff:10.9.0.5'], '10.9.0.5'],
  ["a peer's own address on this machine", ['127.0.0.1'], '127.0.0.1'],
])('a peer may name %s', (_what, addresses, peer) => {
  expect(() => checkTarget('pbx.example.com:5061', addresses, peer, allowed)).not.toThrow();
});

it.each([
  ['a private address', ['10.9.0.5'], '8.8.8.8'],
  ['a private address of its network that is not its own', ['10.9.0.6'], '10.9.0.5'],
  ['this machine', ['127.0.0.1'], '8.8.8.8'],
  ['this machine in IPv6', ['::1'], '8.8.8.8'],
  ['a private address embedded in IPv6', ['::ffff:10.9.0.5'], '8.8.8.8'],
  ['a metadata service', ['169.254.169.254'], '8.8.8.8'],
  ['a name with a public and a private address', ['93.184.215.14', '10.9.0.5'], '8.8.8.8'],
])('a peer may not name %s', (_what, addresses, peer) => {
  expect(() => checkTarget('pbx.example.com:5061', addresses, peer, allowed)).toThrow(
    expect.objectContaining({
      fault: 'not_allowed',
      message: expect.stringMatching(/^pbx\.example\.com:5061: .*ALLOW_PRIVATE_TARGETS$/),
    }),
  );
});
