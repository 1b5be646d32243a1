import { describe, expect, test } from 'vitest';
import { createAuthority } from '../test/kit/fakes/certificates.ts';
import { ownTarget } from './own-address.ts';

const authority = createAuthority();
const certificate = (...names: string[]) => authority.issue({ names }).cert;
const anywhere = { host: '0.0.0.0', port: 5061 };

describe('how the edge reaches itself', () => {
  test('on the loopback, when it listens on all addresses and its certificate names the loopback', () => {
    const target = ownTarget(anywhere, null, certificate('DNS:localhost', 'IP:127.0.0.1'));
    expect(target).toEqual({ host: '127.0.0.1', address: '127.0.0.1', port: 5061, serverName: '127.0.0.1' });
  });

  test('on the loopback, under its public name', () => {
    const target = ownTarget(anywhere, 'sip.example.com', certificate('DNS:sip.example.com'));
    expect(target).toMatchObject({ address: '127.0.0.1', serverName: 'sip.example.com' });
  });

  test('under a name from the certificate, when nothing else is known', () => {
    expect(ownTarget(anywhere, null, certificate('DNS:sip.example.com'))).toMatchObject({
      serverName: 'sip.example.com',
    });
    expect(ownTarget(anywhere, '203.0.113.9', certificate('DNS:*.example.com'))).toMatchObject({
      serverName: 'edge.example.com',
    });
  });

  test('at the address that it listens on', () => {
    const target = ownTarget({ host: '192.0.2.7', port: 5071 }, null, certificate('IP:192.0.2.7'));
    expect(target).toMatchObject({ address: '192.0.2.7', port: 5071, serverName: '192.0.2.7' });
  });

  test('at its public address, when the certificate names nothing else', () => {
    const target = ownTarget(anywhere, '203.0.113.9', certificate('IP:203.0.113.9'));
    expect(target).toEqual({ host: '203.0.113.9', port: 5061, serverName: '203.0.113.9' });
  });
});
