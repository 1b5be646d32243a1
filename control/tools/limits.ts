/** Limits of tools and of customers' code. */
export interface ToolLimits {
  /** How long a tool with `cache` reuses a result within its conversation. */
  readonly cacheMs: number;
  /** Threads that run customers' code. */
  readonly threads: number;
  /** Runs of an organization that wait for a thread. */
  readonly waiting: number;
  /** Computing time of a run; the timeout of the tool applies too. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

export const toolLimits: ToolLimits = {
  // Longer than most conversations, short enough that stock or prices are not from yesterday.
  cacheMs: 600_000,
  // Code is for small calculations; the API and the calls need the other cores.
  threads: 2,
  // With two threads, the last one waits a few seconds, as long as a caller does.
  waiting: 20,
  // A calculation takes milliseconds; this ends endless loops before the caller gives up.
  cpuMs: 5_000,
  // A sandbox starts with 2 MiB; inputs and outputs are limited to far less than the rest.
  memoryBytes: 32 * 1_048_576,
};
