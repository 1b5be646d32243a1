import { expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { FakeDns, settle } from '../../test/kit/edge/trunks.ts';
import type { DnsAnswer } from './dns.ts';
import { CachingDns, dnsCacheLimits } from './dns-cache.ts';

function cache(zone: FakeDns['zone'], limits: Partial<typeof dnsCacheLimits> = {}) {
  const clock = new FakeClock();
  const inner = new FakeDns(zone);
  return { clock, inner, dns: new CachingDns(inner, clock, { ...dnsCacheLimits, ...limits }) };
}

test('queries once while the answer is valid', async () => {
  const { clock, inner, dns } = cache({ a: { 'a.example': ['192.0.2.1'] } });
  await dns.a('a.example');
  clock.advance(299_999);
  expect((await dns.a('A.example')).records).toEqual(['192.0.2.1']);
  expect(inner.asked).toEqual(['a a.example']);
  clock.advance(1);
  await dns.a('a.example');
  expect(inner.asked).toHaveLength(2);
});

test('caches "does not exist" for a shorter time', async () => {
  const { clock, inner, dns } = cache({});
  expect((await dns.srv('_sips._tcp.a.example')).records).toEqual([]);
  clock.advance(29_999);
  await dns.srv('_sips._tcp.a.example');
  expect(inner.asked).toHaveLength(1);
  clock.advance(1);
  await dns.srv('_sips._tcp.a.example');
  expect(inner.asked).toHaveLength(2);
});

test('identical concurrent queries are sent once', async () => {
  const { inner, dns } = cache({ a: { 'a.example': ['192.0.2.1'] } });
  await Promise.all([dns.a('a.example'), dns.a('a.example'), dns.aaaa('a.example')]);
  expect(inner.asked.toSorted()).toEqual(['a a.example', 'aaaa a.example']);
});

test('an expired answer is served while the name servers fail, for a day', async () => {
  const { clock, inner, dns } = cache({ a: { 'a.example': ['192.0.2.1'] } });
  await dns.a('a.example');
  inner.zone = { failing: ['a a.example'] };
  clock.advance(300_000);
  expect((await dns.a('a.example')).records).toEqual(['192.0.2.1']);
  clock.advance(86_400_000);
  await expect(dns.a('a.example')).rejects.toThrow('no answer from the name servers for a.example');
});

test('a failed query is not repeated for some seconds', async () => {
  const { clock, inner, dns } = cache({ failing: ['a a.example'] });
  await expect(dns.a('a.example')).rejects.toThrow();
  clock.advance(4999);
  await expect(dns.a('a.example')).rejects.toThrow();
  expect(inner.asked).toHaveLength(1);
  clock.advance(1);
  inner.zone = { a: { 'a.example': ['192.0.2.1'] } };
  expect((await dns.a('a.example')).records).toEqual(['192.0.2.1']);
});

test('an expired answer is served after 0.3 s while its query continues', async () => {
  const { clock, inner, dns } = cache({ a: { 'a.example': ['192.0.2.1'] } });
  await dns.a('a.example');
  clock.advance(300_000);
  const late = Promise.withResolvers<DnsAnswer<string>>();
  inner.a = () => late.promise;
  const heard: string[] = [];
  const ask = (who: string) => dns.a('a.example').then(({ records }) => heard.push(`${who} ${records}`));
  const first = ask('first');
  clock.advance(299);
  await settle();
  expect(heard).toEqual([]);
  clock.advance(1);
  await first;
  // The query has used its 0.3 s: later callers do not wait again.
  const second = ask('second');
  clock.advance(0);
  await second;
  late.resolve({ records: ['192.0.2.2'], ttlS: 300 });
  await settle();
  await ask('third');
  expect(heard).toEqual(['first 192.0.2.1', 'second 192.0.2.1', 'third 192.0.2.2']);
  expect(clock.pending).toBe(0);
});

test.each(['a', 'aaaa', 'srv', 'naptr'] as const)(
  'while the name servers are silent, "%s does not exist" is the answer after 0.3 s too',
  async (kind) => {
    const { clock, inner, dns } = cache({});
    await dns[kind]('a.example');
    clock.advance(30_000);
    const silent = Promise.withResolvers<never>();
    inner[kind] = () => silent.promise;
    let heard: readonly unknown[] | null = null;
    const asked = dns[kind]('a.example').then(({ records }) => {
      heard = records;
    });
    await settle();
    clock.advance(299);
    await settle();
    expect(heard).toBeNull();
    clock.advance(1);
    await asked;
    expect(heard).toEqual([]);
    // The query fails at its time limit; what is known stays the answer, at once.
    clock.advance(2_700);
    await settle();
    expect((await dns[kind]('a.example')).records).toEqual([]);
    expect(clock.pending).toBe(0);
  },
);

test('a record that was added is found when "does not exist" has expired', async () => {
  const { clock, inner, dns } = cache({});
  await dns.a('a.example');
  inner.zone = { a: { 'a.example': ['192.0.2.1'] } };
  clock.advance(30_000);
  expect((await dns.a('a.example')).records).toEqual(['192.0.2.1']);
});

test('a new answer within 0.3 s is used', async () => {
  const { clock, inner, dns } = cache({ a: { 'a.example': ['192.0.2.1'] } });
  await dns.a('a.example');
  clock.advance(300_000);
  inner.zone = { a: { 'a.example': ['192.0.2.2'] } };
  expect((await dns.a('a.example')).records).toEqual(['192.0.2.2']);
  expect(clock.pending).toBe(0);
});

test('a query times out and leaves no timer', async () => {
  const { clock, inner, dns } = cache({});
  inner.a = () => new Promise(() => {});
  const asked = dns.a('a.example');
  const refused = expect(asked).rejects.toThrow('no answer from the name servers for a.example');
  await settle();
  clock.advance(3000);
  await refused;
  expect(clock.pending).toBe(0);
});

test('keeps no more answers than allowed, and drops the least recently used', async () => {
  const { inner, dns } = cache(
    { a: { a: ['192.0.2.1'], b: ['192.0.2.2'], c: ['192.0.2.3'] } },
    { maxEntries: 2 },
  );
  await dns.a('a');
  await dns.a('b');
  await dns.a('a');
  await dns.a('c');
  expect(dns.size).toBe(2);
  await dns.a('a');
  expect(inner.asked).toEqual(['a a', 'a b', 'a c']);
});
