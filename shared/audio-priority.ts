/**
 * Audio before signaling when the CPU is short: a frame that is 20 ms late is lost, a call that is set up 20 ms later is
 * not. Linux schedules each thread by its own policy, and what a thread starts inherits it: so a shard's media worker has
 * it too.
 */
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';

/** Which of Linux's policies a thread has, sched(7). */
export type AudioPriority = 'real time' | 'raised' | 'normal';

/**
 * Steps of nice for a thread that may not run in real time. Linux weighs them within a session or a control group only
 * (autogroups), so they do not hold against other services.
 */
const above = 5;

/** SCHED_OTHER and SCHED_RR of sched.h. */
const policies = { fair: 0, roundRobin: 2 };

export interface Scheduler {
  /** @returns whether it was permitted */
  setPolicy(policy: number, priority: number): boolean;
  /** @throws when it is not permitted */
  setNice(nice: number): void;
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
  if (scheduler.setPolicy(policies.roundRobin, 1)) return 'real time';
  return raised ? 'raised' : 'normal';
}

/** For a thread that audio has started and that computes for long: frames need not wait for it. */
export function leaveRealTime(scheduler: Scheduler = linux): void {
  scheduler.setPolicy(policies.fair, 0);
}

/** Process 0 is the calling thread, for Linux. */
const linux: Scheduler = {
  setPolicy: (policy, priority) => setterOfPolicy()?.(0, policy, Int32Array.of(priority)) === 0,
  setNice: (nice) => setPriority(0, nice),
};

/** glibc's sched_setscheduler(2), whose parameters are one number; null: another C library. */
function setterOfPolicy(): ((pid: number, policy: number, parameters: Int32Array) => unknown) | null {
  try {
    const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
    return koffi.load('libc.so.6').func('int sched_setscheduler(int pid, int policy, const int *parameters)');
  } catch {
    return null;
  }
}
