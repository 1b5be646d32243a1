import { describe, expect, it } from 'vitest';
import { registrationsScene, settled, trunk } from '../../../test/kit/edge/registrations.ts';

const scene = registrationsScene();
const { build, sent, answerAll, registered, reported } = scene;

describe('the registrations of the edge', () => {
  it('do not wait longer when the clock is set back an hour between two', async () => {
    scene.registrations.engineUp();
    scene.registrations.follow([trunk('first', { username: 'first' })]);
    scene.clock.advance(0);
    scene.clock.jump(-3_600_000);
    scene.registrations.follow([
      trunk('first', { username: 'first' }),
      trunk('second', { username: 'second' }),
    ]);
    scene.clock.advance(200);
    await settled();
    expect(scene.requests.map(({ message }) => message.headers.To)).toEqual([
      '<sip:first@pbx.example.com>',
      '<sip:second@pbx.example.com>',
    ]);
  });

  it('start when the engine is up, one after another', async () => {
    scene.registrations.follow([
      trunk('a', { username: 'a' }),
      trunk('b', { username: 'b' }),
      trunk('c', { username: 'c' }),
    ]);
    scene.clock.advance(10_000);
    expect(await sent()).toEqual([]);
    scene.registrations.engineUp();
    scene.clock.advance(0);
    expect(await sent()).toEqual(['a 300']);
    scene.clock.advance(100);
    expect(await sent()).toEqual(['a 300', 'b 300']);
    scene.clock.advance(100);
    expect(await sent()).toEqual(['a 300', 'b 300', 'c 300']);
  });

  it('are reported and logged under their record, and counted', async () => {
    scene.registrations.follow([trunk('a'), { org_id: 'org', inbound: [] }]);
    expect(scene.reports).toEqual([
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
    scene.registrations.engineUp();
    scene.clock.advance(1_000);
    await answerAll();
    expect(scene.reports.at(-1)).toEqual({
      trunkId: 'a',
      state: 'registered',
      registrar: 'pbx.example.com:5061',
      at: '2030-01-01T00:00:01.000Z',
      expires_at: '2030-01-01T00:05:01.000Z',
      next_try_at: null,
      sip_code: 200,
      last_error: null,
    });
    expect(scene.log.lines.map(({ fields }) => fields)).toMatchObject([
      { trunk_id: 'a', state: 'registered' },
    ]);
    expect(scene.registrations.metrics()).toEqual({
      'trunkline_edge_registrations{state="registering"}': 0,
      'trunkline_edge_registrations{state="registered"}': 1,
      'trunkline_edge_registrations{state="failed"}': 0,
      'trunkline_edge_registrations_total{result="success"}': 1,
      'trunkline_edge_registrations_total{result="failure"}': 0,
    });
    expect(JSON.stringify([scene.reports, scene.log.lines])).not.toContain('secret');
  });

  it('are unaffected by a configuration that does not change them', async () => {
    await registered(trunk('a'));
    scene.registrations.follow([trunk('a'), trunk('b', { username: 'b' })]);
    scene.clock.advance(1_000);
    expect(await sent()).toEqual(['b 300']);
  });

  it('know which registrar granted them, even after they have failed', async () => {
    scene.registrations.follow([trunk('a')]);
    scene.registrations.engineUp();
    scene.clock.advance(1_000);
    await answerAll(403);
    expect(scene.registrations.isBoundAt('a', '192.0.2.1')).toBe(false);
    await registered(trunk('b', { username: 'b' }));
    expect(scene.registrations.isBoundAt('b', '::ffff:192.0.2.1')).toBe(true);
    expect(scene.registrations.isBoundAt('b', '192.0.2.2')).toBe(false);
    expect(scene.registrations.isBoundAt('nothing', '192.0.2.1')).toBe(false);
    scene.registrations.engineLost();
    expect(scene.registrations.isBoundAt('b', '192.0.2.1')).toBe(true);
  });

  it('end with their record', async () => {
    await registered(trunk('a'), trunk('b', { username: 'b' }));
    scene.registrations.follow([trunk('b', { username: 'b' })]);
    expect(await sent()).toEqual(['acme 0']);
    expect(reported()).toEqual([]);
    await answerAll();
    expect(reported()).toEqual(['a ended']);
  });

  it('are replaced only after the old binding is removed: the Contact is the same', async () => {
    await registered(trunk('a'));
    scene.registrations.follow([trunk('a', { password: 'another' })]);
    expect(reported()).toEqual(['a registering']);
    scene.clock.advance(1_000);
    expect(await sent()).toEqual(['acme 0']);
    await answerAll();
    scene.clock.advance(1_000);
    expect(await sent()).toEqual(['acme 300']);
    await answerAll();
    expect(reported()).toEqual(['a registering', 'a registered']);
  });

  it('are shared by records that register the same user at the same registrar', async () => {
    await registered(trunk('a'), trunk('b'));
    expect(scene.registrations.metrics()['trunkline_edge_registrations{state="registered"}']).toBe(1);
    scene.registrations.follow([trunk('b')]);
    expect(await sent()).toEqual([]);
    expect(reported()).toEqual(['a ended']);
    scene.registrations.follow([trunk('b'), trunk('c')]);
    expect(reported()).toEqual(['a ended', 'c registered']);
    scene.clock.advance(180_000);
    await answerAll(403);
    expect(reported().slice(2)).toEqual(['b failed', 'c failed']);
  });

  it('all register again after the engine was lost', async () => {
    await registered(trunk('a', { username: 'a' }), trunk('b', { username: 'b' }));
    scene.registrations.engineLost();
    expect(reported()).toEqual(['a failed', 'b failed']);
    scene.clock.advance(600_000);
    expect(await sent()).toEqual([]);
    scene.registrations.engineUp();
    scene.clock.advance(1_000);
    expect(await sent()).toEqual(['a 300', 'b 300']);
  });

  it('report a refresh only when the previously reported expiry comes near', async () => {
    build(30_000);
    await registered(trunk('a'));
    for (let refreshes = 0; refreshes < 7; refreshes++) {
      scene.clock.advance(24_000);
      await answerAll();
    }
    expect(scene.reports.map(({ at, expires_at }) => [at, expires_at])).toEqual([
      ['2030-01-01T00:02:49.000Z', '2030-01-01T00:07:49.000Z'],
    ]);
  });

  it('are all removed at shutdown, within the timeout of one request', async () => {
    await registered(trunk('a', { username: 'a' }), trunk('b', { username: 'b' }));
    let over = false;
    const end = scene.registrations.end().then(() => {
      over = true;
    });
    expect(await sent()).toEqual(['a 0', 'b 0']);
    scene.requests.shift()?.done({ kind: 'answered', status: 200, reason: 'OK', headers: {}, sent: {} });
    await settled();
    expect(over).toBe(false);
    scene.clock.advance(8_000);
    await end;
    expect(reported()).toEqual(['a ended', 'b ended']);
    expect(scene.clock.pending).toBe(0);
  });

  it('leave nothing behind when they are closed', async () => {
    await registered(trunk('a'));
    scene.registrations.follow([trunk('a'), trunk('b', { username: 'b' })]);
    scene.registrations.close();
    scene.requests.length = 0;
    scene.clock.advance(600_000);
    expect(await sent()).toEqual([]);
    expect(scene.clock.pending).toBe(0);
  });
});
