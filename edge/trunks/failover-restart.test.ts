import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failoverScene, minute, refused } from '../../test/kit/edge/failover.ts';
import { endpoint, route } from '../../test/kit/edge/trunks.ts';
import { openFailoverStore } from './failover-store.ts';

const scene = failoverScene();
const { start, trunk, order } = scene;

describe('one endpoint in two spellings', () => {
  it.each([
    ['pbx.example.com', 'PBX.Example.COM'],
    ['pbx.example.com', 'pbx.example.com.'],
    ['2001:db8::1', '2001:DB8:0:0:0:0:0:1'],
    ['2001:db8::1', '[2001:db8:0::1]'],
    ['192.0.2.1', '::ffff:192.0.2.1'],
  ])('is the same: %s and %s', (one, other) => {
    const first = route('first', [one, 'b']);
    const second = route('second', [other, 'c']);
    scene.failover.configure([first, second]);
    scene.failover.probed(endpoint(one), false);
    expect(order(first)).toEqual(['b']);
    expect(order(second)).toEqual(['c']);
    scene.failover.targetSeen({ host: one, address: one, port: 5061, serverName: one }, false);
    const elsewhere = { host: 'b', address: 'b', port: 5061, serverName: 'b' };
    expect(
      scene.failover.worthTrying([{ host: other, address: other, port: 5061, serverName: other }, elsewhere]),
    ).toEqual([elsewhere]);
  });

  it('is recognized after a restart in another spelling, also from a store of an earlier version', () => {
    scene.store.saveEndpoint({ key: '[2001:DB8:0::1]:5061', reachable: false, at: scene.clock.now() });
    scene.store.saveEndpoint({ key: 'PBX.example.com:5061', reachable: false, at: scene.clock.now() });
    scene.failover = start();
    const one = trunk(['2001:db8::1', 'pbx.example.com.', 'c']);
    expect(order(one)).toEqual(['c']);
    expect(scene.store.load().endpoints.map(({ key }) => key)).toEqual([
      '[2001:db8::1]:5061',
      'pbx.example.com:5061',
    ]);
  });

  it('with another port is another endpoint', () => {
    const one = trunk(['a', 'b']);
    scene.failover.probed({ host: 'A', port: 5062 }, false);
    expect(order(one)).toEqual(['a', 'b']);
  });
});

describe('after a restart', () => {
  let folder: string;
  const open = () => openFailoverStore(join(folder, 'failover'), (fault) => expect.fail(fault));

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'failover-'));
    scene.store = await open();
    scene.failover = start();
  });
  afterEach(async () => {
    await scene.failover.close();
    rmSync(folder, { recursive: true });
  });

  async function restart(): Promise<void> {
    await scene.failover.close();
    scene.store = await open();
    scene.failover = start();
  }

  it('the active endpoint and the dead ones are restored', async () => {
    const one = trunk(['a', 'b'], { failback: 'manual' });
    scene.failover.ended(one, endpoint('a'), refused);
    await restart();
    scene.failover.configure([one]);
    expect(scene.failover.activePriority('t')).toBe(1);
    expect(order(one)).toEqual(['b']);
    scene.clock.advance(10 * minute);
    expect(order(one)).toEqual(['b', 'a']);
  });

  it('a failback is restored too', async () => {
    const one = trunk(['a', 'b']);
    scene.failover.ended(one, endpoint('a'), refused);
    scene.failover.failBack('t');
    await restart();
    scene.failover.configure([one]);
    expect(order(one)).toEqual(['a', 'b']);
  });

  it('trunks and endpoints no longer configured are deleted', () => {
    const one = trunk(['a', 'b']);
    scene.failover.ended(one, endpoint('a'), refused);
    scene.failover.configure([]);
    expect(scene.store.load()).toEqual({ trunks: [], endpoints: [] });
    scene.failover.configure([one]);
    expect(order(one)).toEqual(['a', 'b']);
  });

  it('an attempt that ends after its trunk was removed leaves nothing behind', () => {
    const one = trunk(['a', 'b']);
    scene.failover.configure([]);
    scene.failover.ended(one, endpoint('a'), refused);
    expect(scene.store.load()).toEqual({ trunks: [], endpoints: [] });
    expect(scene.moves).toEqual([]);
  });
});
