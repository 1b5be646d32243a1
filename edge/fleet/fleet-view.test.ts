/** What an edge works on when the fleet changes, and while control has given its work to others for a moment. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Assignment } from '#shared/fleet/assignment.ts';
import { FleetView } from './fleet-view.ts';

let folder: string;
let clock: FakeClock;
let view: FleetView;
/** What each change said, and whether the subject was this edge's then. */
let changes: { isBack: boolean; isOurs: boolean }[];

/** One that is assigned to this edge while it is a member. */
const subject = Array.from({ length: 100 }, (_, index) => `probe ${index}`).find(
  (one) => new Assignment(['other', 'this']).of(one) === 'this',
);
const isOurs = () => view.isOurs(subject ?? '');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-view-'));
  clock = new FakeClock();
  start();
});
afterEach(() => rmSync(folder, { recursive: true }));

function start(): void {
  changes = [];
  view = new FleetView({
    clock,
    edgeId: 'this',
    path: join(folder, 'fleet.json'),
    changed: (isBack) => changes.push({ isBack, isOurs: isOurs() }),
    unstored: () => undefined,
  });
}

/** All members, as on a new link. */
const all = (epoch: number, ...joined: string[]) =>
  view.apply({ type: 'fleet', epoch, from: null, joined, left: [] });
const change = (epoch: number, joined: string[], left: string[] = []) =>
  view.apply({ type: 'fleet', epoch, from: epoch - 1, joined, left });

it('an edge that is back within its lease changes nothing', () => {
  all(7, 'this', 'other');
  all(7, 'this', 'other');
  expect(changes).toHaveLength(1);
});

it.each([
  ['with its link', () => undefined],
  ['after a restart', () => start()],
])('an edge that is back %s after others had its work keeps it, and they hear of it', (_how, begin) => {
  all(7, 'this', 'other');
  begin();
  changes = [];
  all(8, 'other');
  expect([isOurs(), view.epoch, view.size]).toEqual([true, 7, 2]);
  change(9, ['this']);
  clock.advance(10_000);
  expect(changes).toEqual([{ isBack: true, isOurs: true }]);
  expect(view.epoch).toBe(9);
});

it('an edge that control does not take in again hands its work over', () => {
  all(7, 'this', 'other');
  changes = [];
  all(8, 'other');
  change(9, ['third']);
  clock.advance(2_999);
  expect(changes).toEqual([]);
  clock.advance(1);
  expect(changes).toEqual([{ isBack: false, isOurs: false }]);
  expect([view.epoch, view.size]).toEqual([9, 3]);
  change(10, ['this']);
  expect(changes.at(-1)).toEqual({
    isBack: false,
    isOurs: new Assignment(['other', 'third', 'this']).of(subject ?? '') === 'this',
  });
});

it('an edge that drains hands its work over at once', () => {
  all(7, 'this', 'other');
  changes = [];
  change(8, [], ['this']);
  expect(changes).toEqual([{ isBack: false, isOurs: false }]);
  start();
  all(8, 'other');
  expect([isOurs(), changes.length]).toEqual([false, 0]);
  change(9, ['this']);
  expect(changes).toEqual([{ isBack: false, isOurs: true }]);
});

it('an edge that waits to be taken in, at a control plane that does not know fleets, does everything itself', () => {
  all(7, 'this', 'other');
  all(8, 'other');
  view.leave();
  clock.advance(10_000);
  expect([view.epoch, isOurs()]).toEqual([null, true]);
});
