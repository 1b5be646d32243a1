/** How many test runs over a call an edge takes, of one organization and of all. */
import { beforeEach, expect, test } from 'vitest';
import { TestRoom, type TestRoomParts, testRoom } from './agent-test-room.ts';
import { CommandRefused } from './call/refused.ts';

let refused: string[];
let parts: { -readonly [Name in keyof TestRoomParts]: TestRoomParts[Name] };

beforeEach(() => {
  refused = [];
  parts = {
    limits: testRoom,
    pairs: 64,
    pairsInUse: () => 0,
    maxCalls: 1000,
    liveCalls: () => 0,
    closedFor: () => null,
    organizations: () => 3,
    refused: (why) => refused.push(why),
  };
});

/** @returns what gives back the runs that got room */
function takeAll(room: TestRoom, orgId: string, calls = 2): (() => void)[] {
  const taken: (() => void)[] = [];
  for (let run = 0; run < 200; run++) {
    try {
      taken.push(room.take(orgId, calls));
    } catch (error) {
      expect(error).toBeInstanceOf(CommandRefused);
      return taken;
    }
  }
  return taken;
}

test('one organization leaves room for others, who have all that is left', () => {
  const room = new TestRoom(parts);
  expect(takeAll(room, 'one').length).toBe(20);
  expect(takeAll(room, 'two').length).toBe(12);
  expect(refused).toEqual(['share', 'ports']);
});

test('alone it has all', () => {
  parts.organizations = () => 1;
  expect(takeAll(new TestRoom(parts), 'one').length).toBe(32);
  expect(refused).toEqual(['ports']);
});

test('it has one run however few calls an edge takes, and as many as MAX_CALLS lets', () => {
  parts.maxCalls = 2;
  expect(takeAll(new TestRoom(parts), 'one').length).toBe(1);
  parts.maxCalls = 40;
  expect(takeAll(new TestRoom(parts), 'one').length).toBe(13);
  parts.liveCalls = () => 39;
  expect(takeAll(new TestRoom(parts), 'one').length).toBe(0);
  expect(takeAll(new TestRoom(parts), 'one', 1).length).toBe(26);
  parts.closedFor = () => 'organization_share';
  expect(takeAll(new TestRoom(parts), 'one', 1).length).toBe(0);
  expect(refused).toEqual(['share', 'share', 'calls', 'share', 'calls']);
});

test('room is given back once', () => {
  const room = new TestRoom(parts);
  const [leave, ...more] = takeAll(room, 'one');
  leave?.();
  leave?.();
  expect(takeAll(room, 'one').length).toBe(1);
  expect(room.size).toBe(1);
  for (const one of more) one();
  expect(takeAll(room, 'one').length).toBe(19);
});

test('ports of other tests count, and those of runs that have none yet', () => {
  const room = new TestRoom(parts);
  parts.pairsInUse = () => 63;
  expect(takeAll(room, 'one').length).toBe(0);
  expect(takeAll(room, 'one', 1).length).toBeGreaterThan(0);
  expect(refused[0]).toBe('ports');
});
