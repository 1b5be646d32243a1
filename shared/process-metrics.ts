/** What a Node process uses, by the names that prom-client gives the same values of control. */
import { readdirSync } from 'node:fs';

/**
 * Memory, descriptors and active resources. Timers are resources of the type `Timeout`; those that do not keep the
 * process running are not counted.
 */
export function processMetrics(): Record<string, number> {
  const { rss, heapUsed, external } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  return {
    process_resident_memory_bytes: rss,
    nodejs_heap_size_used_bytes: heapUsed,
    nodejs_external_memory_bytes: external,
    nodejs_active_resources_total: resources.length,
    nodejs_active_timers: resources.filter((type) => type === 'Timeout').length,
    ...openDescriptors(),
  };
}

/** Empty where the kernel does not tell. */
function openDescriptors(): Record<string, number> {
  try {
    return { process_open_fds: readdirSync('/proc/self/fd').length };
  } catch {
    return {};
  }
}
