/** Registrations that fail: when they are tried again, also across a restart of the edge. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { epoch, registrationsScene, trunk } from '../../../test/kit/edge/registrations.ts';
import { openRefusalStore, type RefusalStore } from './refused-registrations.ts';

const scene = registrationsScene();
const { build, sent, answerAll, registered, reported } = scene;

/** Seconds until the next attempt for the one failed record. */
const pauseS = () => (Date.parse(scene.reports.at(-1)?.next_try_at ?? '') - scene.clock.now()) / 1000;

describe('the registrations of the edge', () => {
  it('are retried within seconds when they are attached, but not because the edge started', async () => {
    scene.registrations.follow([trunk('a')]);
    scene.registrations.engineUp();
    scene.clock.advance(1_000);
    await answerAll(403);
    expect(pauseS()).toBe(300);
    scene.registrations.follow([trunk('a'), trunk('b', { username: 'b' })]);
    scene.clock.advance(1_000);
    await answerAll(403);
    expect(reported().at(-1)).toBe('b failed');
    expect(pauseS()).toBe(4);
  });

  it('of a whole restarted edge fail once each, and wait as long as usual', async () => {
    const many = Array.from({ length: 100 }, (_, n) => trunk(`t${n}`, { username: `u${n}` }, `org-${n}`));
    scene.registrations.follow(many);
    scene.registrations.engineUp();
    let asked = 0;
    for (let second = 0; second < 299; second++) {
      scene.clock.advance(1_000);
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
    scene.registrations.follow([good]);
    scene.registrations.engineUp();
    let refused = 0;
    for (let minute = 0; minute < 20; minute++) {
      // Changing all records each minute does not increase the number of attempts.
      scene.registrations.follow([good, ...Array.from({ length: 30 }, (_, n) => at(n, minute))]);
      for (let second = 0; second < 60; second++) {
        scene.clock.advance(1_000);
        const users = await sent();
        refused += users.filter((user) => !user.startsWith('good')).length;
        for (const request of scene.requests.splice(0)) {
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
        const last = scene.reports.findLast(({ trunkId }) => trunkId === 't29');
        expect(last).toMatchObject({ state: 'failed', sip_code: null });
        expect(last?.last_error).toMatch(
          /^pbx\.example\.com:5061 has rejected 9 registrations of this organization/,
        );
        expect(Date.parse(last?.next_try_at ?? '')).toBeGreaterThan(scene.clock.now());
      }
    }
    expect(refused).toBe(18);
    expect(scene.reports.findLast(({ trunkId }) => trunkId === 'good')).toMatchObject({
      state: 'registered',
    });
  });

  it('that succeed wait only for the answers of a few', async () => {
    const many = Array.from({ length: 200 }, (_, n) => trunk(`t${n}`, { username: `u${n}` }));
    scene.registrations.follow(many);
    scene.registrations.engineUp();
    for (let tenth = 0; tenth < 400; tenth++) {
      scene.clock.advance(100);
      await answerAll();
    }
    const states = new Map(scene.reports.map(({ trunkId, state }) => [trunkId, state]));
    expect([...states.values()].filter((state) => state === 'registered')).toHaveLength(200);
  });

  it('are tried at once when the record changes while they fail, and not otherwise', async () => {
    const at = (minute: number) => ({ changed_at: `2030-01-01T00:0${minute}:00.000Z` });
    scene.registrations.follow([trunk('a', at(0)), trunk('b', { username: 'b', ...at(0) })]);
    scene.registrations.engineUp();
    scene.clock.advance(1_000);
    await answerAll(403);
    scene.clock.advance(30_000);
    // The same again, as after a lost link to control, then the change of one.
    scene.registrations.follow([trunk('a', at(0)), trunk('b', { username: 'b', ...at(0) })]);
    expect(await sent()).toEqual([]);
    scene.registrations.follow([trunk('a', at(0)), trunk('b', { username: 'b', ...at(1) })]);
    expect(await sent()).toEqual(['b 300']);
    await answerAll();
    scene.registrations.follow([trunk('a', at(0)), trunk('b', { username: 'b', ...at(2) })]);
    expect(await sent()).toEqual([]);
  });

  it('are not all tried because a control plane starts to report when records were changed', async () => {
    scene.registrations.follow([trunk('a')]);
    scene.registrations.engineUp();
    scene.clock.advance(1_000);
    await answerAll(403);
    scene.registrations.follow([trunk('a', { changed_at: '2030-01-01T00:00:00.000Z' })]);
    expect(await sent()).toEqual([]);
  });

  it('report the outcome of an order to try now, even when nothing changed', async () => {
    await registered(trunk('a'), trunk('b'));
    scene.registrations.tryNow('a', 'order-1');
    expect(scene.reports).toEqual([]);
    await answerAll();
    expect(scene.reports).toMatchObject([{ trunkId: 'a', state: 'registered', orderId: 'order-1' }]);
    expect(() => scene.registrations.tryNow('c', 'order-2')).toThrow(
      'this edge has no registration for the record',
    );
    scene.registrations.engineLost();
    expect(() => scene.registrations.tryNow('a', 'order-3')).toThrow(
      'the SIP engine of the edge is not running',
    );
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

  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  /** Starts the edge with this configuration. */
  async function start(at: number, ...numbers: { org_id: string; inbound: InboundTrunk[] }[]): Promise<void> {
    store = await openRefusalStore(join(folder, 'registrations'), (fault) => expect.fail(fault));
    build(0, store, at);
    scene.registrations.follow(numbers);
    scene.registrations.engineUp();
    scene.clock.advance(1_000);
  }

  /** Its registrar has rejected trunk a at 1,000 ms; the pause is 300 s. */
  async function refused(...numbers: { org_id: string; inbound: InboundTrunk[] }[]): Promise<void> {
    await start(0, ...numbers);
    await answerAll(403);
    await scene.registrations.close();
  }

  it('is respected: a loop of restarts sends nothing, and then one attempt', async () => {
    await refused(trunkA());
    for (let at = 10_000; at < 300_000; at += 20_000) {
      await start(at, trunkA());
      expect(await sent()).toEqual([]);
      expect(scene.reports[0]).toMatchObject({
        state: 'failed',
        sip_code: 403,
        next_try_at: new Date(epoch + 301_000).toISOString(),
        last_error: expect.stringMatching(/403/),
      });
      await scene.registrations.close();
    }
    await start(290_000, trunkA());
    scene.clock.advance(9_999);
    expect(await sent()).toEqual([]);
    scene.clock.advance(1);
    expect(await sent()).toEqual(['acme 300']);
  });

  it('does not affect others, and ends after its pause', async () => {
    await refused(trunkA());
    await start(10_000, trunkA(), trunk('b', { username: 'b' }));
    expect(await sent()).toEqual(['b 300']);
    await scene.registrations.close();
    await start(301_000, trunkA());
    expect(await sent()).toEqual(['acme 300']);
  });

  it.each<[string, Parameters<typeof trunk>[1]]>([
    ['password', { password: 'another' }],
    ['user', { username: 'another' }],
    ['host', { host: 'other.example.com' }],
    ['record', { changed_at: '2030-01-01T00:00:01.000Z' }],
  ])('does not apply to a changed %s', async (_what, changes) => {
    await refused(trunkA());
    await start(10_000, trunkA(changes));
    expect(await sent()).toHaveLength(1);
  });

  it('is overridden by register-now, which the next start knows', async () => {
    await refused(trunkA());
    await start(10_000, trunkA());
    scene.registrations.tryNow('a', 'order');
    expect(await sent()).toEqual(['acme 300']);
    await answerAll(403);
    await scene.registrations.close();
    await start(305_000, trunkA());
    expect(await sent()).toEqual([]);
    scene.clock.advance(5_000);
    expect(await sent()).toEqual(['acme 300']);
    await answerAll();
    await scene.registrations.close();
    await start(310_000, trunkA());
    expect(await sent()).toEqual(['acme 300']);
  });

  it('ends when the record is attached again', async () => {
    await refused(trunkA());
    await start(10_000);
    scene.registrations.follow([trunkA()]);
    scene.clock.advance(1_000);
    expect(await sent()).toEqual(['acme 300']);
  });

  it('lasts no longer than its pause, even if the clock was a year ahead then', async () => {
    await refused(trunkA());
    await start(-31_536_000_000, trunkA());
    scene.clock.advance(298_999);
    expect(await sent()).toEqual([]);
    scene.clock.advance(1);
    expect(await sent()).toEqual(['acme 300']);
  });

  it('is stored without user name and password', async () => {
    await start(0, trunkA({ username: 'an-account', password: 'a-password' }));
    await answerAll(403);
    await scene.registrations.close();
    const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(kept.join()).toMatch(/403/);
    expect(kept.join()).not.toMatch(/an-account|a-password/);
  });
});
