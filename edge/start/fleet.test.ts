/**
 * Call limits at every control plane that does not say whether a call may start. The edge knows of one other edge, so its
 * fair share is half of each limit; it never uses more, and asks only a control plane that knows the question.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallCountFrame, Membership } from '#shared/edge-protocol/fleet.ts';
import { sharedAfterMs } from '#shared/fleet/sharing.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { OutboundLimits } from '../call/limits.ts';
import { Metrics } from '../metrics.ts';
import type { ControlAbilities } from '../reporting/link-options.ts';
import { type EdgeFleet, fleetOf } from './fleet.ts';

const limit = 4;
const fairShare = 2;

let folder: string;
let clock: FakeClock;
let sent: CallCountFrame[];
let isConnected: boolean;
let fleet: EdgeFleet;
let limits: OutboundLimits;
let up: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  clock = new FakeClock();
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts the edge; its files are those of its last run. */
function start(): void {
  sent = [];
  isConnected = false;
  up = 0;
  const nobody = { learned: () => undefined, reassigned: () => undefined };
  const sip = { host: '127.0.0.1', port: 5061, publicHost: null, wssPort: null };
  const log = new QuietLog();
  fleet = fleetOf(
    { settings: { dataDir: folder, sip }, log, metrics: new Metrics() },
    {
      clock,
      reporting: {
        edgeId: 'this',
        get connected() {
          return isConnected;
        },
        tell: (frame) => sent.push(frame),
      },
      trunks: () => nobody,
      signaling: () => nobody,
      held: () => limits.held(),
    },
  );
  limits = new OutboundLimits({
    clock,
    log,
    organization: () => ({ concurrent: limit }),
    number: () => undefined,
    refused: () => undefined,
    fleet: fleet.counts,
  });
}

const members = (epoch: number, ...joined: string[]): Membership => ({
  type: 'fleet',
  epoch,
  from: null,
  joined,
  left: [],
});

function connect(control: ControlAbilities): void {
  isConnected = true;
  fleet.welcomed(control);
  if (control.fleet) fleet.receive(members(7, 'other', 'this'));
}

const settled = () => new Promise(setImmediate);

/** Twice as many calls as the limit allows, one after another; `answer` is what control does with each frame. */
async function place(answer: () => void = () => undefined): Promise<void> {
  for (let count = 0; count < limit * 2; count++) {
    let isDecided = false;
    const call = { callId: `call-${count}`, orgId: 'o', from: '+14155550100', to: '+14155550123' };
    const verdict = Promise.resolve(limits.admit(call)).then((refusal) => {
      isDecided = true;
      if (refusal === null) up++;
    });
    for (let waits = 0; waits < 100 && !isDecided; waits++) {
      await settled();
      answer();
      clock.advance(250);
      await settled();
    }
    await verdict;
  }
}

const counting: ControlAbilities = { fleet: true, countsCalls: true };

/** A former run, at a control plane that knows all. */
function knewTheOther(): void {
  start();
  connect(counting);
}

const controls: readonly [string, (() => void) | null, (() => void) | undefined, boolean][] = [
  ['does not know fleets', () => connect({ fleet: false, countsCalls: false }), undefined, false],
  ['knows fleets but does not count', () => connect({ fleet: true, countsCalls: false }), undefined, false],
  ['is not there', null, undefined, false],
  ['has not sent its welcome', () => (isConnected = true), undefined, false],
  ['never answers', () => connect(counting), undefined, true],
  [
    'never knows',
    () => connect(counting),
    () => {
      const ask = sent.findLast((frame) => frame.type === 'call_ask');
      if (ask) fleet.receive({ type: 'call_answer', id: ask.id, answer: 'unknown' });
    },
    true,
  ],
  [
    'wants all counts again and again',
    () => connect(counting),
    () => fleet.receive({ type: 'calls_wanted' }),
    true,
  ],
  [
    'loses the link after each question',
    () => connect(counting),
    () => {
      isConnected = false;
      connect(counting);
    },
    true,
  ],
];

it.each(controls)(
  'an edge whose control plane %s uses its fair share',
  async (_what, begin, answer, isAsked) => {
    knewTheOther();
    start();
    begin?.();
    await place(answer);
    expect(up).toBe(fairShare);
    expect(sent.some(({ type }) => type === 'call_ask')).toBe(isAsked);
    if (!isAsked) expect(sent).toEqual([]);
  },
);

it('an edge whose control plane was replaced by an older one keeps its fair share over a restart', async () => {
  knewTheOther();
  connect({ fleet: false, countsCalls: false });
  expect(fleet.view.isOurs('probe trunk.example.com 5061')).toBe(true);
  start();
  connect({ fleet: false, countsCalls: false });
  expect(fleet.view.epoch).toBeNull();
  await place();
  expect(up).toBe(fairShare);
});

it('an edge that is alone counts alone, with the whole limit, a minute after control has said so', async () => {
  knewTheOther();
  connect({ fleet: false, countsCalls: false });
  isConnected = true;
  fleet.welcomed(counting);
  fleet.receive(members(8, 'this'));
  clock.advance(sharedAfterMs);
  await place();
  expect(up).toBe(limit);
  expect(sent.filter(({ type }) => type === 'call_ask')).toEqual([]);
});
