import { readdirSync, readlinkSync } from 'node:fs';

/** Where the descriptors of this process lead. */
export function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The descriptor of the listing itself.
      return [];
    }
  });
}
