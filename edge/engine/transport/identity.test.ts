import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { expect, test } from 'vitest';
import { createAuthority } from '../../../test/kit/fakes/certificates.ts';
import { checkSipIdentity } from './identity.ts';

const authority = createAuthority();

function certificate(...names: string[]): PeerCertificate {
  return new X509Certificate(
    authority.issue({ names, commonName: 'common.example.com' }).cert,
  ).toLegacyObject();
}

test('a DNS name, a wildcard, an address and a SIP URI name the host', () => {
  expect(checkSipIdentity('SIP.example.com', certificate('DNS:sip.example.com'))).toBeUndefined();
  expect(checkSipIdentity('a.example.com', certificate('DNS:*.example.com'))).toBeUndefined();
  expect(checkSipIdentity('192.0.2.1', certificate('IP:192.0.2.1'))).toBeUndefined();
  expect(
    checkSipIdentity('Example.com', certificate('DNS:host7.example.net', 'URI:sip:example.com')),
  ).toBeUndefined();
});

test('a SIP URI with a user part, another scheme or another host does not', () => {
  for (const uri of ['URI:sip:bob@example.com', 'URI:https://example.com', 'URI:sip:example.net']) {
    expect(checkSipIdentity('example.com', certificate(uri))?.message).toMatch(/does not match/);
  }
});

test('the common name is ignored when there are alternative names', () => {
  const error = checkSipIdentity('common.example.com', certificate('DNS:other.example.com'));
  expect(error?.message).toContain('DNS:other.example.com');
});

test('a name inside a quoted entry cannot pass as an entry of its own', () => {
  const forged = { ...certificate('DNS:other.example.com'), subjectaltname: 'DNS:"x, URI:sip:example.com"' };
  expect(checkSipIdentity('example.com', forged)).toBeInstanceOf(Error);
});
