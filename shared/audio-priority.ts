/**
 * Audio before signaling when the CPU is short: a frame that is 20 ms late is lost, a call that is set up 20 ms later is
 * not. Linux schedules each thread by its own policy, and what a thread starts inherits it: so a shard's media worker has
 * it too.
 *
 * Threads of a process wait for each other's locks. One that has a lock and is not in real time waits for a core behind any
 * other program, and so does the thread of audio that wants the lock. So what these have in common runs in real time as
 * well: the helpers of Node always (where they collect no garbage: scripts/supervisor/node-flags.ts), other threads while
 * they send to a thread of audio.
 *
 * All have one priority, so that each gets a share of a core (`sched_rr_timeslice_ms`). A thread of audio may wait for a
 * helper without resting (V8 does so when it sweeps): a helper below it would never run where such threads have all cores.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { lazy } from './lazy.ts';

/** Which of Linux's policies a thread has, sched(7). */
export type AudioPriority = 'real time' | 'raised' | 'normal';

/**
 * Steps of nice for a thread that may not run in real time. Linux weighs them within a session or a control group only
 * (autogroups), so they do not hold against other services.
 */
const above = 5;

/** SCHED_OTHER and SCHED_RR of sched.h. */
const policies = { fair: 0, roundRobin: 2 };

/** The lowest in real time. */
const realTime = 1;

/** Names of the threads of V8 and libuv on which Node computes, and waits for disks, for all its threads. */
const helperNames: readonly string[] = ['V8Worker', 'libuv-worker'];

export interface Scheduler {
  /** @param thread the calling one unless given. @returns whether it was permitted */
  setPolicy(policy: number, priority: number, thread?: number): boolean;
  /** @throws when it is not permitted */
  setNice(nice: number): void;
  /** Ids of the helpers of this process, if they are for short work alone. */
  helpers(): readonly number[];
}

/**
 * Has the calling thread run as soon as it is ready, before all that is not in real time. That needs a permission
 * (`LimitRTPRIO` and `LimitNICE` in `deploy/trunkline-edge.service`, or root). Linux leaves the others a twentieth of each
 * second (`sched_rt_runtime_us`), so a thread that never rests can still be ended.
 * @returns what was permitted
 */
export function raisePriority(scheduler: Scheduler = linux): AudioPriority {
  let raised = true;
  // It is what a thread falls back on that leaves real time.
  try {
    scheduler.setNice(-above);
  } catch {
    raised = false;
  }
  if (!scheduler.setPolicy(policies.roundRobin, realTime)) return raised ? 'raised' : 'normal';
  for (const helper of scheduler.helpers()) scheduler.setPolicy(policies.roundRobin, realTime, helper);
  return 'real time';
}

/** For a thread that audio has started and that computes for long: frames need not wait for it. */
export function leaveRealTime(scheduler: Scheduler = linux): void {
  scheduler.setPolicy(policies.fair, 0);
}

/**
 * Sends something to a thread of audio, from one that is not in real time. Node wakes the receiver with the lock of its
 * messages in hand, and the receiver then waits for that.
 */
export function besideAudio(send: () => void, scheduler: Scheduler = linux): void {
  const isPermitted = scheduler.setPolicy(policies.roundRobin, realTime);
  try {
    send();
  } finally {
    if (isPermitted) scheduler.setPolicy(policies.fair, 0);
  }
}

/** Process 0 is the calling thread, for Linux. */
const linux: Scheduler = {
  setPolicy: (policy, priority, thread = 0) =>
    setterOfPolicy().set?.(thread, policy, Int32Array.of(priority)) === 0,
  setNice: (nice) => setPriority(0, nice),
  // Helpers that collect garbage would take all cores for long.
  helpers: () =>
    process.execArgv.includes('--single-threaded-gc')
      ? readdirSync('/proc/self/task').map(Number).filter(isHelper)
      : [],
};

function isHelper(thread: number): boolean {
  try {
    return helperNames.includes(readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim());
  } catch {
    // It has ended.
    return false;
  }
}

type SetPolicy = (thread: number, policy: number, parameters: Int32Array) => unknown;

/** glibc's sched_setscheduler(2), whose parameters are one number; null: another C library. */
const setterOfPolicy = lazy((): { readonly set: SetPolicy | null } => {
  try {
    const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
    const libc = koffi.load('libc.so.6');
    return { set: libc.func('int sched_setscheduler(int pid, int policy, const int *parameters)') };
  } catch {
    return { set: null };
  }
});
