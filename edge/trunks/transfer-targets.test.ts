import { describe, expect, it } from 'vitest';
import type { InboundTrunk, OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import type { TransferMode } from '#shared/transfer-mode.ts';
import { endpoint, route } from '../../test/kit/edge/trunks.ts';
import {
  destinationOf,
  type NumberTrunks,
  recordsFor,
  referTargetOf,
  referVerdict,
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
  allowed_ips: ['192.0.2.7', '198.51.100.0/24', '2001:db8::/64'],
  source_host: 'pbx.example.com',
  headers: [],
  codecs: [],
};
const trunks: NumberTrunks = {
  number: '+14155550100',
  outbound: [primary, second],
  inbound: [inbound, { ...inbound, id: 'bare', allowed_ips: [], source_host: null }],
};

describe('the records of a transferred call', () => {
  it('are the one that the call used, else all of the number', () => {
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

describe('the target of a REFER', () => {
  it.each<[string, string | null, string | null]>([
    ['+14155550123', 'primary', 'sip:+14155550123@one.example.com:5061;transport=tls'],
    ['+14155550123', 'second', 'sip:+14155550123@two.example.com:5071;transport=tls'],
    ['201', 'in', 'sip:201@pbx.example.com;transport=tls'],
    ['*21#', 'in', 'sip:*21%23@pbx.example.com;transport=tls'],
    ['201', 'bare', 'sip:201@one.example.com:5061;transport=tls'],
    ['201', null, 'sip:201@one.example.com:5061;transport=tls'],
    ['sip:ann@elsewhere.example.com?X=1', 'primary', 'sip:ann@elsewhere.example.com'],
    ['sip:ann@elsewhere.example.com;transport=tcp', 'primary', null],
    ['tel:+14155550123', 'primary', 'tel:+14155550123'],
  ])('for %s on a call over %s is %s', (to, trunkId, uri) => {
    expect(referTargetOf(trunks, to, trunkId)?.uri ?? null).toBe(uri);
  });

  it('has the headers of the outbound record, or none for a foreign host', () => {
    expect(referTargetOf(trunks, '201', 'primary')?.headers).toEqual(primary.headers);
    expect(referTargetOf(trunks, 'sip:201@one.example.com', 'primary')?.headers).toEqual(primary.headers);
    expect(referTargetOf(trunks, 'sip:201@elsewhere.example.com', 'primary')?.headers).toEqual([]);
    expect(referTargetOf(trunks, '201', 'in')?.headers).toEqual([]);
  });

  it('includes the port of a registrar', () => {
    const registration = { host: 'reg.example.com', port: 5071, username: 'u', password: 'p', expires_s: 60 };
    const registered = { ...trunks, inbound: [{ ...inbound, registration }] };
    expect(referTargetOf(registered, '201', 'in')?.uri).toBe('sip:201@reg.example.com:5071;transport=tls');
  });

  it('is absent for a number without any host', () => {
    expect(referTargetOf({ number: '+14155550100', outbound: [] }, '201', null)).toBeNull();
  });
});

const context = { ownHosts: ['edge.example.com', '192.0.2.99'], peer: '203.0.113.20' };
const withMode = (transfer_mode: TransferMode): NumberTrunks => ({
  ...trunks,
  outbound: trunks.outbound.map((record) => ({ ...record, transfer_mode })),
  inbound: trunks.inbound?.map((record) => ({ ...record, transfer_mode })) ?? [],
});

describe('a REFER from a peer', () => {
  /** The target called in the default mode, and with `enable_all`; null: rejected. */
  it.each<[string, string | null, string | null, string | null]>([
    ['sip:201@one.example.com', 'primary', null, 'sip:201@one.example.com'],
    ['sip:201@one.example.com:5061', 'primary', null, 'sip:201@one.example.com:5061'],
    ['sip:201@one.example.com:5999', 'primary', null, null],
    ['sip:201@two.example.com', 'primary', null, null],
    ['sip:201@two-b.example.com', 'second', null, 'sip:201@two-b.example.com'],
    ['sip:201@TWO.example.com.:5071', 'second', null, 'sip:201@TWO.example.com.:5071'],
    ['sip:201@pbx.example.com', 'in', 'sip:201@pbx.example.com', 'sip:201@pbx.example.com'],
    ['sip:+449098790000@pbx.example.com', 'in', null, 'sip:+449098790000@pbx.example.com'],
    ['sip:009%3449098790000@pbx.example.com', 'in', null, 'sip:009%3449098790000@pbx.example.com'],
    ['sip:201@192.0.2.7:5099', 'in', 'sip:201@192.0.2.7:5099', 'sip:201@192.0.2.7:5099'],
    ['sip:201@198.51.100.9', 'in', 'sip:201@198.51.100.9', 'sip:201@198.51.100.9'],
    ['sip:201@[::ffff:198.51.100.9]', 'in', 'sip:201@[::ffff:198.51.100.9]', 'sip:201@[::ffff:198.51.100.9]'],
    ['sip:201@[2001:db8:0:0::5]', 'in', 'sip:201@[2001:db8:0:0::5]', 'sip:201@[2001:db8:0:0::5]'],
    ['sip:201@198.51.101.9', 'in', null, null],
    ['sip:201@203.0.113.20', 'in', 'sip:201@203.0.113.20', 'sip:201@203.0.113.20'],
    ['sip:201@one.example.com', 'in', null, 'sip:201@one.example.com'],
    ['sip:201@pbx.example.com', 'primary', null, null],
    ['sip:201@elsewhere.example.com', 'in', null, null],
    ['sip:201@one.example.com;transport=udp', 'primary', null, null],
    ['tel:+14155550123', 'primary', null, '+14155550123'],
    ['tel:+1-415-555-0123', 'in', null, '+14155550123'],
    // RFC 3966 section 5.1.5: the digits of a local number are another number on the trunk.
    ['tel:900-555-1234;phone-context=+1', 'in', null, null],
    ['tel:9005551234;isub=1;Phone-Context=%2b1', 'in', null, null],
    ['tel:9005551234;phone-context=pbx.example.com', 'in', null, null],
    ['tel:55512;phone-context=+1900', 'in', null, null],
    ['tel:1001;phone-context=pbx.example.com', 'in', null, '1001'],
    ['tel:+14155550123;phone-context=+1', 'in', null, '+14155550123'],
    ['sip:9005551234;phone-context=+1@edge.example.com', 'in', null, null],
    ['sip:9005551234%3Bphone-context=+1@edge.example.com', 'in', null, null],
    ['sip:+14155550123@edge.example.com', 'in', null, '+14155550123'],
    ['sip:201@192.0.2.99:5061', 'in', null, '201'],
    ['sip:edge.example.com', 'in', null, null],
    ['http://one.example.com', 'primary', null, null],
  ])('to %s on a call over %s calls %s, with enable_all %s', (uri, trunkId, byDefault, enabled) => {
    const called = (given: NumberTrunks) => {
      const verdict = referVerdict(given, trunkId, uri, context);
      if (!verdict.allowed) expect(verdict.reason).toMatch(/\.$/);
      return verdict.allowed ? verdict.to : null;
    };
    expect(called(trunks)).toBe(byDefault);
    expect(called(withMode('sip_only'))).toBe(byDefault);
    expect(called(withMode('enable_all'))).toBe(enabled);
    expect(called(withMode('disable_all'))).toBeNull();
  });
});

describe('a REFER that is to replace a call', () => {
  const replacing = (mode: TransferMode, uri: string, joins: boolean) =>
    referVerdict(withMode(mode), 'in', uri, { ...context, joins });

  it('of this edge calls nobody, so only disable_all forbids it', () => {
    for (const uri of ['sip:+14155550100@edge.example.com', 'sip:201@elsewhere.example.com']) {
      expect(replacing('sip_only', uri, true)).toEqual({ allowed: true, to: uri });
      expect(replacing('disable_all', uri, true).allowed).toBe(false);
    }
  });

  it('that this edge does not have goes where the target says: the dialog may be one of the trunk', () => {
    const uri = 'sip:+14155550123@edge.example.com';
    expect(replacing('enable_all', uri, false)).toEqual({ allowed: true, to: '+14155550123' });
    const elsewhere = 'sip:201@pbx.example.com';
    expect(replacing('sip_only', elsewhere, false)).toEqual({ allowed: true, to: elsewhere });
  });
});
