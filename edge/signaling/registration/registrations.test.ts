import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import type { RegistrationState } from '#shared/edge-protocol/reports.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import type { Outcome } from '../srf/exchange.ts';
import type { NewRequest } from '../srf/srf.ts';
import { noRefusals, openRefusalStore, type RefusalStore } from './refused-registrations.ts';
import { Registrations } from './registrations.ts';

let clock: FakeClock;
let log: QuietLog;
let registrations: Registrations;
let requests: { readonly message: NewRequest; readonly done: (outcome: Outcome) => void }[];
let reports: (RegistrationState & { readonly trunkId: string; readonly orderId?: string })[];

beforeEach(() => build(0));

const epoch = Date.UTC(2030, 0, 1);

/** @param refusals stored by an earlier edge @param at time of the clock, ms since the epoch of the tests */
function build(keepaliveMs: number, refusals: RefusalStore = noRefusals, at = 0): void {
  clock = new FakeClock(epoch + at);
  log = new QuietLog();
  requests = [];
  reports = [];
  registrations = new Registrations({
    environment: {
      clock,
      log,
      random: () => 0,
      software: 'Trunkline/test',
      publicAddress: '198.51.100.1:5061',
    },
    exchange: (message, timeoutMs, done) => {
      const timer = clock.after(timeoutMs, () => done({ kind: 'silent', why: { kind: 'timeout' } }));
      requests.push({
        message,
        done: (outcome) => {
          timer.cancel();
          done(outcome);
        },
      });
    },
    resolve: async (host, port) => ({
      ok: true,
      targets: [{ host, serverName: host, address: '192.0.2.1', port }],
    }),
    refusals,
    nameOf: (key) => createHash('sha256').update(key).digest('hex'),
    report: (trunkId, state, orderId) =>
      reports.push({ trunkId, ...(orderId !== undefined && { orderId }), ...state }),
    settings: {
      perSecond: 10,
      timeoutMs: 8_000,
      keepaliveMs,
      retryMs: 5_000,
      retryMaxMs: 600_000,
      refusedPauseMs: 300_000,
    },
  });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function trunk(
  id: string,
  changes: Partial<NonNullable<InboundTrunk['registration']>> = {},
  org_id = 'org',
): { org_id: string; inbound: InboundTrunk[] } {
  const registration = {
    host: 'pbx.example.com',
    port: 5061,
    username: 'acme',
    password: 'secret',
    expires_s: 300,
    ...changes,
  };
  const common = { allowed_ips: [], source_host: null, headers: [], codecs: [] };
  return { org_id, inbound: [{ id, auth_mode: 'register', ...common, registration }] };
}

/** Pending requests, abbreviated: the user and the requested interval. */
async function sent(): Promise<string[]> {
  await settled();
  return requests.map(({ message }) => {
    const user = /<sip:([^@]+)@/.exec(message.headers.To ?? '')?.[1];
    return `${user} ${message.headers.Expires}`;
  });
}

async function answerAll(status = 200, headers: Record<string, string> = { expires: '300' }): Promise<void> {
  await settled();
  for (const { message, done } of requests.splice(0)) {
    const contact = message.headers.Contact ?? '';
    done({ kind: 'answered', status, reason: 'Reason', headers: { contact, ...headers }, sent: { contact } });
  }
}

/** Applies a configuration and lets everything in it register. */
async function registered(...numbers: { org_id: string; inbound: InboundTrunk[] }[]): Promise<void> {
  registrations.follow(numbers);
  registrations.engineUp();
  clock.advance(1_000);
  await answerAll();
  reports.length = 0;
}

const told = () => reports.map(({ trunkId, state }) => `${trunkId} ${state}`);

describe('the registrations of the edge', () => {
  it('do not wait longer when the clock is set back an hour between two', async () => {
    registrations.engineUp();
    registrations.follow([trunk('first', { username: 'first' })]);
    clock.advance(0);
    clock.jump(-3_600_000);
    registrations.follow([trunk('first', { username: 'first' }), trunk('second', { username: 'second' })]);
    clock.advance(200);
    await settled();
    expect(requests.map(({ message }) => message.headers.To)).toEqual([
      '<sip:first@pbx.example.com>',
      '<sip:second@pbx.example.com>',
    ]);
  });

  it('start when the engine is up, one after another', async () => {
    registrations.follow([
      trunk('a', { username: 'a' }),
      trunk('b', { username: 'b' }),
      trunk('c', { username: 'c' }),
    ]);
    clock.advance(10_000);
    expect(await sent()).toEqual([]);
    registrations.engineUp();
    clock.advance(0);
    expect(await sent()).toEqual(['a 300']);
    clock.advance(100);
    expect(await sent()).toEqual(['a 300', 'b 300']);
    clock.advance(100);
    expect(await sent()).toEqual(['a 300', 'b 300', 'c 300']);
  });

  it('are reported and logged under their record, and counted', async () => {
    registrations.follow([trunk('a'), { org_id: 'org', inbound: [] }]);
    expect(reports).toEqual([
      {
        trunkId: 'a',
        state: 'registering',
        registrar: 'pbx.example.com:5061',
        at: '2030-01-01T00:00:00.000Z',
        expires_at: null,
        next_try_at: null,
        sip_code: null,
        last_error: null,
      },
    ]);
    registrations.engineUp();
    clock.advance(1_000);
    await answerAll();
    expect(reports.at(-1)).toEqual({
      trunkId: 'a',
      state: 'registered',
      registrar: 'pbx.example.com:5061',
      at: '2030-01-01T00:00:01.000Z',
      expires_at: '2030-01-01T00:05:01.000Z',
      next_try_at: null,
      sip_code: 200,
      last_error: null,
    });
    expect(log.lines.map(({ fields }) => fields)).toMatchObject([{ trunk_id: 'a', state: 'registered' }]);
    expect(registrations.metrics()).toEqual({
      'trunkline_edge_registrations{state="registering"}': 0,
      'trunkline_edge_registrations{state="registered"}': 1,
      'trunkline_edge_registrations{state="failed"}': 0,
      'trunkline_edge_registrations_total{result="success"}': 1,
      'trunkline_edge_registrations_total{result="failure"}': 0,
    });
    expect(JSON.stringify([reports, log.lines])).not.toContain('secret');
  });

  it('are unaffected by a configuration that does not change them', async () => {
    await registered(trunk('a'));
    registrations.follow([trunk('a'), trunk('b', { username: 'b' })]);
    clock.advance(1_000);
    expect(await sent()).toEqual(['b 300']);
  });

  it('know which registrar granted them, even after they have failed', async () => {
    registrations.follow([trunk('a')]);
    registrations.engineUp();
    clock.advance(1_000);
    await answerAll(403);
    expect(registrations.isBoundAt('a', '192.0.2.1')).toBe(false);
    await registered(trunk('b', { username: 'b' }));
    expect(registrations.isBoundAt('b', '::ffff:192.0.2.1')).toBe(true);
    expect(registrations.isBoundAt('b', '192.0.2.2')).toBe(false);
    expect(registrations.isBoundAt('nothing', '192.0.2.1')).toBe(false);
    registrations.engineLost();
    expect(registrations.isBoundAt('b', '192.0.2.1')).toBe(true);
  });

  it('end with their record', async () => {
    await registered(trunk('a'), trunk('b', { username: 'b' }));
    registrations.follow([trunk('b', { username: 'b' })]);
    expect(await sent()).toEqual(['acme 0']);
    expect(told()).toEqual([]);
    await answerAll();
    expect(told()).toEqual(['a ended']);
  });

  it('are replaced only after the old binding is removed: the Contact is the same', async () => {
    await registered(trunk('a'));
    registrations.follow([trunk('a', { password: 'another' })]);
    expect(told()).toEqual(['a registering']);
    clock.advance(1_000);
    expect(await sent()).toEqual(['acme 0']);
    await answerAll();
    clock.advance(1_000);
    expect(await sent()).toEqual(['acme 300']);
    await answerAll();
    expect(told()).toEqual(['a registering', 'a registered']);
  });

  it('are shared by records that register the same user at the same registrar', async () => {
    await registered(trunk('a'), trunk('b'));
    expect(registrations.metrics()['trunkline_edge_registrations{state="registered"}']).toBe(1);
    registrations.follow([trunk('b')]);
    expect(await sent()).toEqual([]);
    expect(told()).toEqual(['a ended']);
    registrations.follow([trunk('b'), trunk('c')]);
    expect(told()).toEqual(['a ended', 'c registered']);
    clock.advance(180_000);
    await answerAll(403);
    expect(told().slice(2)).toEqual(['b failed', 'c failed']);
  });

  it('all register again after the engine was lost', async () => {
    await registered(trunk('a', { username: 'a' }), trunk('b', { username: 'b' }));
    registrations.engineLost();
    expect(told()).toEqual(['a failed', 'b failed']);
    clock.advance(600_000);
    expect(await sent()).toEqual([]);
    registrations.engineUp();
    clock.advance(1_000);
    expect(await sent()).toEqual(['a 300', 'b 300']);
  });

  it('report a refresh only when the previously reported expiry comes near', async () => {
    build(30_000);
    await registered(trunk('a'));
    for (let refreshes = 0; refreshes < 7; refreshes++) {
      clock.advance(24_000);
      await answerAll();
    }
    expect(reports.map(({ at, expires_at }) => [at, expires_at])).toEqual([
      ['2030-01-01T00:02:49.000Z', '2030-01-01T00:07:49.000Z'],
    ]);
  });

  it('are all removed at shutdown, within the timeout of one request', async () => {
    await registered(trunk('a', { username: 'a' }), trunk('b', { username: 'b' }));
    let over = false;
    const end = registrations.end().then(() => {
      over = true;
    });
    expect(await sent()).toEqual(['a 0', 'b 0']);
    requests.shift()?.done({ kind: 'answered', status: 200, reason: 'OK', headers: {}, sent: {} });
    await settled();
    expect(over).toBe(false);
    clock.advance(8_000);
    await end;
    expect(told()).toEqual(['a ended', 'b ended']);
    expect(clock.pending).toBe(0);
  });

  it('leave nothing behind when they are closed', async () => {
    await registered(trunk('a'));
    registrations.follow([trunk('a'), trunk('b', { username: 'b' })]);
    registrations.close();
    requests.length = 0;
    clock.advance(600_000);
    expect(await sent()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  /** Seconds until the next attempt for the one failed record. */
  const pauseS = () => (Date.parse(reports.at(-1)?.next_try_at ?? '') - clock.now()) / 1000;

  it('are retried within seconds when they are attached, but not because the edge started', async () => {
    registrations.follow([trunk('a')]);
    registrations.engineUp();
    clock.advance(1_000);
    await answerAll(403);
    expect(pauseS()).toBe(300);
    registrations.follow([trunk('a'), trunk('b', { username: 'b' })]);
    clock.advance(1_000);
    await answerAll(403);
    expect(told().at(-1)).toBe('b failed');
    expect(pauseS()).toBe(4);
  });

  it('of a whole restarted edge fail once each, and wait as long as usual', async () => {
    const many = Array.from({ length: 100 }, (_, n) => trunk(`t${n}`, { username: `u${n}` }, `org-${n}`));
    registrations.follow(many);
    registrations.engineUp();
    let asked = 0;
    for (let second = 0; second < 299; second++) {
      clock.advance(1_000);
      asked += (await sent()).length;
      await answerAll(403);
    }
    expect(asked).toBe(100);
  });

  it('of one organization are rejected by one registrar at most nine times in ten minutes', async () => {
    const at = (n: number, minute: number) => {
      const changed_at = new Date(epoch + minute * 60_000).toISOString();
      return trunk(`t${n}`, { username: `u${n}`, changed_at }, 'guesses');
    };
    const good = trunk('good', { host: 'pbx.example.com', username: 'good' }, 'honest');
    registrations.follow([good]);
    registrations.engineUp();
    let refused = 0;
    for (let minute = 0; minute < 20; minute++) {
      // Changing all records each minute does not increase the number of attempts.
      registrations.follow([good, ...Array.from({ length: 30 }, (_, n) => at(n, minute))]);
      for (let second = 0; second < 60; second++) {
        clock.advance(1_000);
        const users = await sent();
        refused += users.filter((user) => !user.startsWith('good')).length;
        for (const request of requests.splice(0)) {
          const { message, done } = request;
          const contact = message.headers.Contact ?? '';
          const status = /<sip:good@/.test(message.headers.To ?? '') ? 200 : 403;
          done({
            kind: 'answered',
            status,
            reason: 'x',
            headers: { contact, expires: '300' },
            sent: { contact },
          });
        }
      }
      if (minute === 8) {
        expect(refused).toBe(9);
        const last = reports.findLast(({ trunkId }) => trunkId === 't29');
        expect(last).toMatchObject({ state: 'failed', sip_code: null });
        expect(last?.last_error).toMatch(
          /^pbx\.example\.com:5061 has rejected 9 registrations of this organization/,
        );
        expect(Date.parse(last?.next_try_at ?? '')).toBeGreaterThan(clock.now());
      }
    }
    expect(refused).toBe(18);
    expect(reports.findLast(({ trunkId }) => trunkId === 'good')).toMatchObject({ state: 'registered' });
  });

  it('that succeed wait only for the answers of a few', async () => {
    const many = Array.from({ length: 200 }, (_, n) => trunk(`t${n}`, { username: `u${n}` }));
    registrations.follow(many);
    registrations.engineUp();
    for (let tenth = 0; tenth < 400; tenth++) {
      clock.advance(100);
      await answerAll();
    }
    const states = new Map(reports.map(({ trunkId, state }) => [trunkId, state]));
    expect([...states.values()].filter((state) => state === 'registered')).toHaveLength(200);
  });

  it('are tried at once when the record changes while they fail, and not otherwise', async () => {
    const at = (minute: number) => ({ changed_at: `2030-01-01T00:0${minute}:00.000Z` });
    registrations.follow([trunk('a', at(0)), trunk('b', { username: 'b', ...at(0) })]);
    registrations.engineUp();
    clock.advance(1_000);
    await answerAll(403);
    clock.advance(30_000);
    // The same again, as after a lost link to control, then the change of one.
    registrations.follow([trunk('a', at(0)), trunk('b', { username: 'b', ...at(0) })]);
    expect(await sent()).toEqual([]);
    registrations.follow([trunk('a', at(0)), trunk('b', { username: 'b', ...at(1) })]);
    expect(await sent()).toEqual(['b 300']);
    await answerAll();
    registrations.follow([trunk('a', at(0)), trunk('b', { username: 'b', ...at(2) })]);
    expect(await sent()).toEqual([]);
  });

  it('are not all tried because a control plane starts to report when records were changed', async () => {
    registrations.follow([trunk('a')]);
    registrations.engineUp();
    clock.advance(1_000);
    await answerAll(403);
    registrations.follow([trunk('a', { changed_at: '2030-01-01T00:00:00.000Z' })]);
    expect(await sent()).toEqual([]);
  });

  it('report the outcome of an order to try now, even when nothing changed', async () => {
    await registered(trunk('a'), trunk('b'));
    registrations.tryNow('a', 'order-1');
    expect(reports).toEqual([]);
    await answerAll();
    expect(reports).toMatchObject([{ trunkId: 'a', state: 'registered', orderId: 'order-1' }]);
    expect(() => registrations.tryNow('c', 'order-2')).toThrow(
      'this edge has no registration for the record',
    );
    registrations.engineLost();
    expect(() => registrations.tryNow('a', 'order-3')).toThrow('the SIP engine of the edge is not running');
  });
});

describe('a rejection across a restart of the edge', () => {
  const trunkA = (changes: Parameters<typeof trunk>[1] = {}) =>
    trunk('a', { changed_at: '2030-01-01T00:00:00.000Z', ...changes });
  let folder: string;
  let store: RefusalStore;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'refusals-'));
  });

  afterEach(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  /** Starts the edge with this configuration. */
  function start(at: number, ...numbers: { org_id: string; inbound: InboundTrunk[] }[]): void {
    store = openRefusalStore(join(folder, 'registrations.db'), (fault) => expect.fail(fault));
    build(0, store, at);
    registrations.follow(numbers);
    registrations.engineUp();
    clock.advance(1_000);
  }

  /** Its registrar has rejected trunk a at 1,000 ms; the pause is 300 s. */
  async function refused(...numbers: { org_id: string; inbound: InboundTrunk[] }[]): Promise<void> {
    start(0, ...numbers);
    await answerAll(403);
    registrations.close();
  }

  it('is respected: a loop of restarts sends nothing, and then one attempt', async () => {
    await refused(trunkA());
    for (let at = 10_000; at < 300_000; at += 20_000) {
      start(at, trunkA());
      expect(await sent()).toEqual([]);
      expect(reports[0]).toMatchObject({
        state: 'failed',
        sip_code: 403,
        next_try_at: new Date(epoch + 301_000).toISOString(),
        last_error: expect.stringMatching(/403/),
      });
      registrations.close();
    }
    start(290_000, trunkA());
    clock.advance(9_999);
    expect(await sent()).toEqual([]);
    clock.advance(1);
    expect(await sent()).toEqual(['acme 300']);
  });

  it('does not affect others, and ends after its pause', async () => {
    await refused(trunkA());
    start(10_000, trunkA(), trunk('b', { username: 'b' }));
    expect(await sent()).toEqual(['b 300']);
    registrations.close();
    start(301_000, trunkA());
    expect(await sent()).toEqual(['acme 300']);
  });

  it.each<[string, Parameters<typeof trunk>[1]]>([
    ['password', { password: 'another' }],
    ['user', { username: 'another' }],
    ['host', { host: 'other.example.com' }],
    ['record', { changed_at: '2030-01-01T00:00:01.000Z' }],
  ])('does not apply to a changed %s', async (_what, changes) => {
    await refused(trunkA());
    start(10_000, trunkA(changes));
    expect(await sent()).toHaveLength(1);
  });

  it('is overridden by register-now, which the next start knows', async () => {
    await refused(trunkA());
    start(10_000, trunkA());
    registrations.tryNow('a', 'order');
    expect(await sent()).toEqual(['acme 300']);
    await answerAll(403);
    registrations.close();
    start(305_000, trunkA());
    expect(await sent()).toEqual([]);
    clock.advance(5_000);
    expect(await sent()).toEqual(['acme 300']);
    await answerAll();
    registrations.close();
    start(310_000, trunkA());
    expect(await sent()).toEqual(['acme 300']);
  });

  it('ends when the record is attached again', async () => {
    await refused(trunkA());
    start(10_000);
    registrations.follow([trunkA()]);
    clock.advance(1_000);
    expect(await sent()).toEqual(['acme 300']);
  });

  it('lasts no longer than its pause, even if the clock was a year ahead then', async () => {
    await refused(trunkA());
    start(-31_536_000_000, trunkA());
    clock.advance(298_999);
    expect(await sent()).toEqual([]);
    clock.advance(1);
    expect(await sent()).toEqual(['acme 300']);
  });

  it('is stored without user name and password', async () => {
    start(0, trunkA({ username: 'an-account', password: 'a-password' }));
    await answerAll(403);
    registrations.close();
    const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(kept.join()).toMatch(/403/);
    expect(kept.join()).not.toMatch(/an-account|a-password/);
  });
});
