/**
 * CPU time that this thread has taken for something, ms: what other programs of the machine do does not count. For texts
 * that a careless pattern tries in all ways in which they can be parted: many seconds, where reading them takes a few ms.
 */
export function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** No text that is read once takes it on any machine, ms of CPU. */
export const hangMs = 1500;
