import { expect, test } from 'vitest';
import { DEFAULT_TRANSPORT_LIMITS } from './limits.ts';
import { type PeerTarget, PeerTargets } from './peer-targets.ts';

const limits = { ...DEFAULT_TRANSPORT_LIMITS, maxPeerTargets: 5, peerTargetsPerNetwork: 3 };

function room() {
  const targets = new PeerTargets(limits);
  const closed: string[] = [];
  /** A connection that is open. */
  const open = (address: string, usedAt = 0, pinned = false): PeerTarget => {
    const target = targets.enter(address);
    targets.locate(target, address);
    target.connection = { pinned, usedAt, close: () => void closed.push(address) };
    return target;
  };
  return { targets, open, closed };
}

test('at the limit of a network, its longest idle connection ends', () => {
  const { targets, open, closed } = room();
  open('192.0.2.1', 1, true);
  open('192.0.2.2', 3);
  open('192.0.2.3', 2);
  open('198.51.100.1', 0);
  open('192.0.2.4', 4);
  expect(closed).toEqual(['192.0.2.3']);
  expect([targets.size, targets.evicted, targets.refused]).toEqual([4, 1, 0]);
});

test('at the total limit, a connection of the largest network ends', () => {
  const { targets, open, closed } = room();
  open('198.51.100.1', 0);
  open('203.0.113.1', 0);
  for (let i = 1; i <= 3; i++) open(`192.0.2.${i}`, i);
  open('198.51.100.2', 9);
  expect(closed).toEqual(['192.0.2.1']);
  expect(targets.size).toBe(5);
});

test('no connection is opened when dialogs need all of them, and the error names the limit', () => {
  const { targets, open, closed } = room();
  for (let i = 1; i <= 3; i++) open(`192.0.2.${i}`, i, true);
  const target = targets.enter('192.0.2.9:5061');
  expect(() => targets.locate(target, '192.0.2.9')).toThrow(
    '192.0.2.9:5061: not connected: limit of 3 connections to targets named by peers in the network of 192.0.2.9 reached, all in use',
  );
  targets.leave(target);
  open('198.51.100.1', 0, true);
  open('203.0.113.1', 0, true);
  expect(() => targets.enter('203.0.113.2:5061')).toThrow(
    'limit of 5 connections to targets named by peers reached, all in use',
  );
  expect([closed, targets.refused]).toEqual([[], 2]);
});

test('a connection being opened takes a slot and is never evicted', () => {
  const { targets } = room();
  for (let i = 0; i < 5; i++) targets.enter(`host-${i}.example:5061`);
  expect(() => targets.enter('host-5.example:5061')).toThrow('all in use');
});

test('nothing is kept of closed connections', () => {
  const { targets, open } = room();
  for (let i = 0; i < 1000; i++) targets.leave(open(`192.0.2.${i % 250}`));
  expect(targets.size).toBe(0);
  for (let i = 1; i <= 3; i++) open(`192.0.2.${i}`, i, true);
});
