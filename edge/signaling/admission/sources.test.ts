import { describe, expect, it } from 'vitest';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { InboundTrunk, NumberConfig, OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { hostsOf, type IsBoundAt, SourceIndex } from './sources.ts';

const trunk = (id: string, allowed_ips: string[], source_host: string | null = null): InboundTrunk => ({
  id,
  auth_mode: 'ip',
  allowed_ips,
  source_host,
  headers: [],
  codecs: [],
});
const number = (...inbound: InboundTrunk[]): NumberConfig => ({
  number: '+14155550100',
  org_id: 'o',
  inbound,
  outbound: [],
  agent: null,
});
const outboundTrunk = (host: string, standby: string[] = []): OutboundTrunk => ({
  id: 'o',
  priority: 1,
  endpoints: [{ host, port: 5061, priority: 0 }],
  standby: standby.map((name, place) => ({ host: name, port: 5061, priority: place + 1 })),
  triggers: [],
  failback: 'auto',
  codecs: ['PCMU'],
  transcode: false,
  credentials: null,
  headers: [],
});
const config = (numbers: NumberConfig[], open_inbound = false): EdgeConfig => ({
  version: 1,
  organizations: [],
  numbers,
  pathways: [],
  allowed_private_targets: [],
  open_inbound,
});
const index = (numberConfig: NumberConfig, open = false, resolved = new Map<string, string[]>()) =>
  new SourceIndex(config([numberConfig], open), resolved);

describe('a source address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['0.0.0.0/0', '203.0.113.7', true],
    ['2001:db8::/32', '2001:db8:1::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:192.0.2.0/120', '192.0.2.77', true],
    ['192.0.2.1', 'not an address', false],
  ])('%s admits %s: %s', (entry, address, allowed) => {
    const config = number(trunk('t', [entry]));
    expect(index(config).admit(config, address).allowed).toBe(allowed);
  });

  it('is attributed to the first trunk that lists it', () => {
    const config = number(trunk('a', ['192.0.2.1']), trunk('b', ['198.51.100.0/24']));
    const admission = index(config).admit(config, '198.51.100.3');
    expect(admission).toMatchObject({ allowed: true, trunk: { id: 'b' } });
  });

  it('may be a resolved host of a trunk', () => {
    const config = number(trunk('a', [], 'pbx.example.com'));
    const resolved = new Map([['pbx.example.com', ['192.0.2.9', '2001:db8::9']]]);
    const sources = index(config, false, resolved);
    expect(sources.admit(config, '2001:db8::9').allowed).toBe(true);
    expect(sources.admit(config, '192.0.2.8').allowed).toBe(false);
  });

  it('is not admitted when nothing is listed, and always admitted when the deployment is open', () => {
    const config = number(trunk('a', []));
    expect(index(config).admit(config, '192.0.2.1').allowed).toBe(false);
    expect(index(config, true).admit(config, '192.0.2.1')).toMatchObject({
      allowed: true,
      trunk: { id: 'a' },
    });
  });

  it('is still checked in an open deployment when the number lists addresses, or a host that does not resolve', () => {
    const listed = number(trunk('a', ['192.0.2.1']));
    expect(index(listed, true).admit(listed, '192.0.2.2').allowed).toBe(false);
    const hosted = number(trunk('a', [], 'gone.example.com'));
    expect(index(hosted, true).admit(hosted, '192.0.2.2').allowed).toBe(false);
  });

  it('is known when any trunk of any number lists it', () => {
    const sources = index(number(trunk('a', ['192.0.2.0/28'])));
    expect(sources.knows('192.0.2.3')).toBe(true);
    expect(sources.knows('192.0.2.16')).toBe(false);
  });

  it('ignores entries that are not addresses, and reports them', () => {
    const config = number(trunk('a', ['bogus', '192.0.2.0/33', '192.0.2.1/', '192.0.2.5']));
    const sources = index(config);
    expect(sources.unreadable).toEqual(['bogus', '192.0.2.0/33', '192.0.2.1/']);
    expect(sources.admit(config, '192.0.2.5').allowed).toBe(true);
  });
});

describe('a trunk that only receives calls', () => {
  const calledOnly = {
    ...number(trunk('a', [], 'pbx.example.com')),
    outbound: [outboundTrunk('trunk.example.com', ['192.0.2.7', '[2001:db8::7]', 'standby.example.com'])],
  };
  const sources = index(
    calledOnly,
    false,
    new Map([
      ['trunk.example.com', ['198.51.100.1', '2001:db8::1']],
      ['standby.example.com', ['198.51.100.2']],
    ]),
  );

  it.each(['198.51.100.1', '2001:db8::1', '192.0.2.7', '2001:db8::7', '198.51.100.2'])(
    'is known at %s, and may not call because of it',
    (address) => {
      expect(sources.knows(address)).toBe(true);
      expect(sources.admit(calledOnly, address)).toEqual({ allowed: false });
    },
  );

  it('is a stranger at any other address', () => {
    expect(sources.knows('198.51.100.3')).toBe(false);
  });

  it('has its names resolved like those of callers', () => {
    expect([...hostsOf(config([calledOnly]))]).toEqual([
      'pbx.example.com',
      'trunk.example.com',
      'standby.example.com',
    ]);
  });
});

describe('a registration', () => {
  const registering = (id: string, allowed: string[], username = 'acme'): InboundTrunk => ({
    ...trunk(id, allowed),
    auth_mode: 'register',
    registration: { host: 'pbx.example.com', port: 5061, username, password: 'p', expires_s: 300 },
  });
  const one = number(registering('a', ['192.0.2.1']));
  const other = { ...number(registering('b', ['198.51.100.1'])), number: '+14155550101' };
  const twin = { ...number(registering('c', ['192.0.2.1'])), number: '+14155550102' };
  const sources = new SourceIndex(config([one, other, twin]), new Map());
  const nowhere: IsBoundAt = () => false;
  const found = (user: string, address: string, dialled = '') =>
    sources.registered(user, address, dialled, undefined, nowhere)?.trunk.id ?? null;

  it('is identified by the called user and the source of the call', () => {
    expect(found('acme', '192.0.2.1')).toBe('a');
    expect(found('acme', '198.51.100.1')).toBe('b');
    expect(found('acme', '203.0.113.1')).toBeNull();
    expect(found('Acme', '192.0.2.1')).toBeNull();
  });

  it('at a registrar with several is identified by the number in To', () => {
    expect(found('acme', '192.0.2.1', '+14155550102')).toBe('c');
    expect(found('acme', '192.0.2.1', '+14155550101')).toBe('a');
  });

  it('is found by its user even for sources that may not call it', () => {
    expect(sources.registeredAnywhere('acme')).toBe(one);
    expect(sources.registeredAnywhere('nobody')).toBeUndefined();
  });

  it('lets its registrar dial the number directly', () => {
    expect(sources.admit(other, '198.51.100.1')).toMatchObject({ allowed: true, trunk: { id: 'b' } });
    expect(sources.admit(other, '192.0.2.1')).toEqual({ allowed: false });
  });

  it("accepts the addresses of its registrar's name", () => {
    const byName = number({ ...registering('n', []), source_host: 'pbx.example.com' });
    const resolved = new Map([['pbx.example.com', ['203.0.113.5']]]);
    const index = new SourceIndex(config([byName]), resolved);
    expect(index.registered('acme', '203.0.113.5', '', undefined, nowhere)?.number).toBe(byName);
  });

  describe('that another organization has entered in its own record', () => {
    const registrar = '192.0.2.1';
    const victim = number(registering('victims', [registrar], '14155550100'));
    const thief = {
      ...number(registering('thiefs', [registrar], '14155550100')),
      number: '+12025550100',
      org_id: 'thief',
    };
    const boundAt =
      (id: string, at: string): IsBoundAt =>
      (trunkId, address) =>
        trunkId === id && address === at;
    const taken = (numbers: NumberConfig[], direct: NumberConfig | undefined, isBoundAt = nowhere) =>
      new SourceIndex(config(numbers), new Map()).registered('14155550100', registrar, '', direct, isBoundAt)
        ?.trunk.id ?? null;

    it("accepts no calls to its holder's number", () => {
      expect(taken([thief], victim)).toBeNull();
      expect(taken([thief], victim, boundAt('thiefs', '203.0.113.9'))).toBeNull();
    });

    it.each(['victim first', 'thief first'])("accepts no calls to its holder's user: %s", (order) => {
      const numbers = order === 'thief first' ? [thief, victim] : [victim, thief];
      expect(taken(numbers, undefined, boundAt('victims', registrar))).toBe('victims');
      expect(taken(numbers, undefined, boundAt('thiefs', '203.0.113.9'))).toBeNull();
      expect(taken(numbers, undefined)).toBeNull();
      expect(new SourceIndex(config(numbers), new Map()).registeredAnywhere('14155550100')).toBeUndefined();
    });

    it("accepts no calls to a user that is its holder's number, nor with a number that To names", () => {
      const asNumber = { ...thief, number: '+14155550100' };
      const atPbx = { ...victim, number: '+14155550199' };
      const index = new SourceIndex(config([asNumber, atPbx]), new Map());
      const call = index.registered(
        '14155550100',
        registrar,
        '+14155550100',
        asNumber,
        boundAt('victims', registrar),
      );
      expect(call?.trunk.id).toBe('victims');
    });
  });
});
