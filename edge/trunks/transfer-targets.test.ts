import { describe, expect, it } from 'vitest';
import type { InboundTrunk, OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { endpoint, route } from './testing.ts';
import {
  destinationOf,
  type NumberTrunks,
  recordsFor,
  referTargetOf,
  staysWith,
} from './transfer-targets.ts';

const primary: OutboundTrunk = route('primary', ['one.example.com'], {
  headers: [{ type: 'custom', key: 'customer', value: 'X-Customer' }],
});
const second: OutboundTrunk = route('second', [], {
  priority: 2,
  endpoints: [endpoint('two.example.com', 0, 5071), endpoint('two-b.example.com', 1)],
});
const inbound: InboundTrunk = {
  id: 'in',
  auth_mode: 'ip',
  allowed_ips: ['192.0.2.7', '198.51.100.0/24'],
  source_host: 'pbx.example.com',
  headers: [],
  codecs: [],
};
const trunks: NumberTrunks = {
  number: '+14155550100',
  outbound: [primary, second],
  inbound: [inbound, { ...inbound, id: 'bare', allowed_ips: [], source_host: null }],
};

describe('the records for a transferred call', () => {
  it('are the one that the call left by, else all of the number', () => {
    expect(recordsFor(trunks, 'second')).toEqual([second]);
    expect(recordsFor(trunks, 'in')).toEqual([primary, second]);
    expect(recordsFor(trunks, null)).toEqual([primary, second]);
  });
});

describe('a destination', () => {
  it.each([
    ['+14155550123', { kind: 'dialled', user: '+14155550123' }],
    ['201', { kind: 'dialled', user: '201' }],
    ['tel:+1-415-555-0123;phone-context=x', { kind: 'dialled', user: '+14155550123' }],
    ['sip:a@b.example.com;transport=udp', { kind: 'unusable' }],
    ['sip:', { kind: 'unusable' }],
    ['urn:service:sos', { kind: 'unusable' }],
  ])('%s is read as %j', (to, read) => {
    expect(destinationOf(to)).toEqual(read);
  });

  it('may be a SIP URI with headers, which are not read', () => {
    expect(destinationOf('sip:a@b.example.com:5081?Replaces=x%40y%3Bto-tag%3D1')).toMatchObject({
      kind: 'uri',
      uri: { host: 'b.example.com', port: 5081, user: 'a' },
    });
  });
});

describe('what a REFER names', () => {
  it.each<[string, string | null, string | null]>([
    ['+14155550123', 'primary', 'sip:+14155550123@one.example.com:5061;transport=tls'],
    ['+14155550123', 'second', 'sip:+14155550123@two.example.com:5071;transport=tls'],
    ['201', 'in', 'sip:201@pbx.example.com;transport=tls'],
    ['*21#', 'in', 'sip:*21%23@pbx.example.com;transport=tls'],
    ['201', 'bare', 'sip:201@one.example.com:5061;transport=tls'],
    ['201', null, 'sip:201@one.example.com:5061;transport=tls'],
    ['sip:ann@elsewhere.example.com?X=1', 'primary', 'sip:ann@elsewhere.example.com'],
    ['sip:ann@elsewhere.example.com;transport=tcp', 'primary', null],
  ])('for %s on a call over %s is %s', (to, trunkId, uri) => {
    expect(referTargetOf(trunks, to, trunkId)?.uri ?? null).toBe(uri);
  });

  it('has the headers of the outbound record, none for a foreign host', () => {
    expect(referTargetOf(trunks, '201', 'primary')?.headers).toEqual(primary.headers);
    expect(referTargetOf(trunks, 'sip:201@one.example.com', 'primary')?.headers).toEqual(primary.headers);
    expect(referTargetOf(trunks, 'sip:201@elsewhere.example.com', 'primary')?.headers).toEqual([]);
    expect(referTargetOf(trunks, '201', 'in')?.headers).toEqual([]);
  });

  it('names a registrar with its port', () => {
    const registration = { host: 'reg.example.com', port: 5071, username: 'u', password: 'p', expires_s: 60 };
    const registered = { ...trunks, inbound: [{ ...inbound, registration }] };
    expect(referTargetOf(registered, '201', 'in')?.uri).toBe('sip:201@reg.example.com:5071;transport=tls');
  });

  it('is nothing for a number without any host', () => {
    expect(referTargetOf({ number: '+14155550100', outbound: [] }, '201', null)).toBeNull();
  });
});

describe('a REFER of a peer', () => {
  it.each<[string, string | null, boolean]>([
    ['sip:201@one.example.com', 'primary', true],
    ['sip:201@one.example.com:5061', 'primary', true],
    ['sip:201@one.example.com:5999', 'primary', false],
    ['sip:201@two.example.com', 'primary', false],
    ['sip:201@two-b.example.com', 'second', true],
    ['sip:201@TWO.example.com.:5071', 'second', true],
    ['sip:201@pbx.example.com', 'in', true],
    ['sip:201@192.0.2.7:5099', 'in', true],
    ['sip:201@198.51.100.9', 'in', false],
    ['sip:201@one.example.com', 'in', true],
    ['sip:201@pbx.example.com', 'primary', false],
    ['sip:201@elsewhere.example.com', 'in', false],
    ['sip:201@one.example.com;transport=udp', 'primary', false],
    ['tel:+14155550123', 'primary', true],
    ['http://one.example.com', 'primary', false],
  ])('to %s on a call over %s stays with it: %s', (uri, trunkId, stays) => {
    expect(staysWith(trunks, trunkId, uri)).toBe(stays);
  });
});
