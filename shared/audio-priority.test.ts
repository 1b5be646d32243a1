import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type AudioPriority, besideAudio, raisePriority } from './audio-priority.ts';

/** A thread with two helpers. @param most the highest priority in real time that is permitted, 0: none */
class System {
  readonly set: [policy: number, priority: number, thread: number][] = [];
  readonly #most: number;
  readonly #nice: boolean;

  constructor(most: number, nice: boolean) {
    this.#most = most;
    this.#nice = nice;
  }

  setPolicy(policy: number, priority: number, thread = 0): boolean {
    if (priority > this.#most) return false;
    this.set.push([policy, priority, thread]);
    return true;
  }

  setNice(): void {
    if (!this.#nice) throw new Error('EACCES: permission denied');
  }

  helpers(): readonly number[] {
    return [71, 72];
  }
}

const [fair, roundRobin] = [0, 2];
/** One priority: a thread that waits for one below it without resting could keep all cores from it. */
const withHelpers = [
  [roundRobin, 1, 0],
  [roundRobin, 1, 71],
  [roundRobin, 1, 72],
];

/** What a system permits, and what a thread and helpers have then. */
it.each<{ realTime: number; nice: boolean; result: AudioPriority; set: number[][] }>([
  { realTime: 1, nice: true, result: 'real time', set: withHelpers },
  { realTime: 1, nice: false, result: 'real time', set: withHelpers },
  { realTime: 0, nice: true, result: 'raised', set: [] },
  { realTime: 0, nice: false, result: 'normal', set: [] },
])('takes what is permitted: real time $realTime, nice $nice', ({ realTime, nice, result, set }) => {
  const system = new System(realTime, nice);
  expect(raisePriority(system)).toBe(result);
  expect(system.set).toEqual(set);
});

it('sends to audio in real time, and not longer, also when that fails', () => {
  const system = new System(1, true);
  const failing = () => {
    expect(system.set).toEqual([[roundRobin, 1, 0]]);
    throw new Error('it could not be cloned');
  };
  expect(() => besideAudio(failing, system)).toThrow('it could not be cloned');
  expect(system.set).toEqual([
    [roundRobin, 1, 0],
    [fair, 0, 0],
  ]);
});

it('sends at the priority that it has where real time is not permitted', () => {
  const system = new System(0, true);
  const sent: string[] = [];
  besideAudio(() => void sent.push('message'), system);
  expect(sent).toEqual(['message']);
  expect(system.set).toEqual([]);
});

interface Standing {
  readonly nice: number;
  readonly policy: number;
  /** In real time; 0: it is not. */
  readonly priority: number;
}

/** In a process of its own, whose helpers stay in real time. */
it.each([true, false])(
  'raises the thread, what it starts, and the helpers of Node if these collect no garbage (%s); audio can leave real time',
  async (isAlone) => {
    const standings = `
    const { readFileSync, readdirSync } = require('node:fs');
    const of = (stat) => {
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return { nice: Number(fields[16]), policy: Number(fields[38]), priority: Number(fields[37]) };
    };
    const own = () => of(readFileSync('/proc/thread-self/stat', 'utf8'));`;
    const ofThread = `${standings}
    const { execFileSync } = require('node:child_process');
    const { parentPort, workerData } = require('node:worker_threads');
    void import(workerData).then(({ raisePriority, leaveRealTime }) => {
      const priority = raisePriority();
      const raised = own();
      const started = of(execFileSync('cat', ['/proc/self/stat'], { encoding: 'utf8' }));
      leaveRealTime();
      parentPort.postMessage({ priority, raised, started, left: own() });
    });`;
    const file = new URL('./audio-priority.ts', import.meta.url).href;
    const program = `${standings}
    const { Worker } = require('node:worker_threads');
    // A thread may end between being listed and being read.
    const named = (id) => {
      try {
        const stat = readFileSync('/proc/self/task/' + id + '/stat', 'utf8');
        return [{ name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), standing: of(stat) }];
      } catch {
        return [];
      }
    };
    const helpers = () => readdirSync('/proc/self/task').flatMap(named)
      .filter(({ name }) => name === 'V8Worker').map(({ standing }) => standing);
    const before = own();
    const thread = new Worker(${JSON.stringify(ofThread)}, { eval: true, workerData: ${JSON.stringify(file)} });
    thread.once('message', (said) => {
      process.stdout.write(JSON.stringify({ ...said, before, after: own(), helpers: helpers() }));
    });`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...(isAlone ? ['--single-threaded-gc'] : []),
      '--eval',
      program,
    ]);
    const {
      helpers,
      before,
      after,
      ...said
    }: Record<string, unknown> & { helpers: Standing[]; before: Standing } = JSON.parse(stdout);
    expect(before.policy).toBe(0);
    expect(after).toEqual(before);
    const { nice } = before;
    /** By what this machine permits. */
    const saw = (is: AudioPriority, withNice: number, priority: number) => {
      const raised = { nice: withNice, policy: priority > 0 ? 2 : 0, priority };
      return { priority: is, raised, started: raised, left: { nice: withNice, policy: 0, priority: 0 } };
    };
    expect([
      saw('real time', -5, 1),
      saw('real time', nice, 1),
      saw('raised', -5, 0),
      saw('normal', nice, 0),
    ]).toContainEqual(said);
    expect(helpers.length).toBeGreaterThan(0);
    const { policy, priority } = isAlone ? (said.raised as Standing) : before;
    for (const helper of helpers) expect(helper).toMatchObject({ policy, priority });
  },
);
