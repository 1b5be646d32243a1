/**
 * Random walks over the engine: peers and applications act in any order, connections close, time passes. After
 * each walk the application hangs up and all timers run out. Then two things must hold: every dialog that the
 * application knew has ended with exactly one event, and the engine holds no state.
 *
 * WALK_SEED=<n> starts from that seed, WALKS=<n> sets the number of walks; a failed walk prints its seed and its
 * steps.
 */
import { expect, it } from 'vitest';
import { rounds } from '../kit/long-test.ts';
import { WalkingApplication } from './application.ts';
import { WalkingPeers } from './peers.ts';
import { randomOf, World } from './world.ts';

const firstSeed = Number(process.env.WALK_SEED ?? 1);
const walks = Number(process.env.WALKS ?? rounds(400));
const steps = 80;
/** Longer than the longest timer sequence: 185 s for a ringing INVITE, then its CANCEL. */
const allTimeMs = 400_000;

/** Connections are opened in promises. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function walk(seed: number): Promise<{ faults: string[]; log: string[] }> {
  const random = randomOf(seed);
  const world = new World();
  const peers = new WalkingPeers(world);
  const faults: string[] = [];
  const log: string[] = [];
  let application = new WalkingApplication(world);
  world.client = application.client;
  const dooms = random(3) === 0;
  for (let step = 0; step < steps; step++) {
    switch (random(9)) {
      case 0: {
        const ms = [10, 500, 5_000, 33_000, 200_000][random(5)] ?? 0;
        world.clock.advance(ms);
        log.push(`${ms} ms`);
        break;
      }
      case 1:
      case 2:
      case 3:
        log.push(`application ${application.act(random)}`);
        break;
      case 4:
        if (!dooms || random(6) > 0) break;
        faults.push(...application.faults);
        application.client.lost();
        world.core.clientGone(application.client);
        application = new WalkingApplication(world);
        world.client = application.client;
        log.push('application disconnects, another one comes');
        break;
      default:
        log.push(`peer ${peers.act(random)}`);
    }
    await turn();
  }
  log.push('the end');
  // The result of a last request may need another one: an answer that crosses a CANCEL.
  for (let round = 0; round < 3; round++) {
    application.finish();
    for (let passed = 0; passed < allTimeMs; passed += 4_000) {
      world.clock.advance(4_000);
      await turn();
    }
  }
  faults.push(
    ...application.faults,
    ...world.errors,
    ...application.owed.map((what) => `still owed: ${what}`),
  );
  const { core, clock, flows } = world;
  for (const [what, count] of Object.entries(core.held)) if (count > 0) faults.push(`${count} kept: ${what}`);
  if (clock.pending > 0) faults.push(`${clock.pending} timers run`);
  for (const { pins, owed, remotePort } of flows) {
    if (pins !== 0 || owed !== 0) faults.push(`${pins} pins and ${owed} octets owed on ${remotePort}`);
  }
  return { faults, log };
}

it(
  `every dialog ends with exactly one event, and nothing is kept (seeds from ${firstSeed} on, ${walks})`,
  async () => {
    for (let seed = firstSeed; seed < firstSeed + walks; seed++) {
      const { faults, log } = await walk(seed).catch((error: unknown) => {
        throw new Error(`walk ${seed} broke off; again with WALK_SEED=${seed} WALKS=1`, { cause: error });
      });
      if (faults.length === 0) continue;
      expect.fail(`WALK_SEED=${seed} WALKS=1\n${faults.join('\n')}\n\n${log.join('\n')}`);
    }
  },
  120_000 + walks * 100,
);
