import { expect, test } from 'vitest';
import { DEFAULT_TRANSPORT_LIMITS } from './limits.ts';
import { NamedPlaces, type Place } from './named-places.ts';

const limits = { ...DEFAULT_TRANSPORT_LIMITS, maxPeerPlaces: 5, peerPlacesPerNetwork: 3 };

function room() {
  const places = new NamedPlaces(limits);
  const closed: string[] = [];
  /** A connection that is open. */
  const open = (address: string, usedAt = 0, pinned = false): Place => {
    const place = places.enter(address);
    places.locate(place, address);
    place.connection = { pinned, usedAt, close: () => void closed.push(address) };
    return place;
  };
  return { places, open, closed };
}

test('at the limit of a network, its longest idle connection ends', () => {
  const { places, open, closed } = room();
  open('192.0.2.1', 1, true);
  open('192.0.2.2', 3);
  open('192.0.2.3', 2);
  open('198.51.100.1', 0);
  open('192.0.2.4', 4);
  expect(closed).toEqual(['192.0.2.3']);
  expect([places.size, places.evicted, places.refused]).toEqual([4, 1, 0]);
});

test('at the total limit, a connection of the largest network ends', () => {
  const { places, open, closed } = room();
  open('198.51.100.1', 0);
  open('203.0.113.1', 0);
  for (let i = 1; i <= 3; i++) open(`192.0.2.${i}`, i);
  open('198.51.100.2', 9);
  expect(closed).toEqual(['192.0.2.1']);
  expect(places.size).toBe(5);
});

test('no connection is opened when dialogs need all of them, and the error names the limit', () => {
  const { places, open, closed } = room();
  for (let i = 1; i <= 3; i++) open(`192.0.2.${i}`, i, true);
  const place = places.enter('192.0.2.9:5061');
  expect(() => places.locate(place, '192.0.2.9')).toThrow(
    '192.0.2.9:5061: not connected: limit of 3 connections to targets named by peers in the network of 192.0.2.9 reached, all in use',
  );
  places.leave(place);
  open('198.51.100.1', 0, true);
  open('203.0.113.1', 0, true);
  expect(() => places.enter('203.0.113.2:5061')).toThrow(
    'limit of 5 connections to targets named by peers reached, all in use',
  );
  expect([closed, places.refused]).toEqual([[], 2]);
});

test('a connection being opened takes a slot and is never evicted', () => {
  const { places } = room();
  for (let i = 0; i < 5; i++) places.enter(`host-${i}.example:5061`);
  expect(() => places.enter('host-5.example:5061')).toThrow('all in use');
});

test('nothing is kept of closed connections', () => {
  const { places, open } = room();
  for (let i = 0; i < 1000; i++) places.leave(open(`192.0.2.${i % 250}`));
  expect(places.size).toBe(0);
  for (let i = 1; i <= 3; i++) open(`192.0.2.${i}`, i, true);
});
