/**
 * Audio before signaling when the CPU is short: a frame that is 20 ms late is lost, a call that is set up 20 ms later is
 * not. Linux has a priority for each thread, and what a thread starts inherits it: so a shard's media worker has it too.
 */
import { setPriority } from 'node:os';

/** Steps of nice. Where both want a core, audio gets three quarters of it. */
const above = 5;

/**
 * Raises the priority of the calling thread. That needs a permission (`LimitNICE=-5` in `deploy/trunkline-edge.service`,
 * or root); without it the thread keeps the priority that it has.
 * @returns whether it was permitted
 */
export function raisePriority(set: (nice: number) => void = ofThisThread): boolean {
  try {
    set(-above);
    return true;
  } catch {
    return false;
  }
}

/** Process 0 is the calling thread, for Linux. */
const ofThisThread = (nice: number): void => setPriority(0, nice);
