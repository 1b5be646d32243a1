/** What the kernel knows about its clock: adjtimex(2), which every time service keeps up to date. */
import { libraryLoader } from '#shared/native-library.ts';

export type KernelClock = { readonly synchronized: boolean } | { readonly reason: string };

/** Octets of `struct timex` on 64-bit Linux, and where its `status` is. */
const timexOctets = 208;
const statusAt = 40;
/** STA_UNSYNC of sys/timex.h */
const unsynchronized = 0x40;

const load = libraryLoader('libc.so.6', 'libc6', (library) => ({
  adjtimex: library.func('int adjtimex(void *)'),
}));

export function kernelClock(): KernelClock {
  const libc = load();
  if ('reason' in libc) return libc;
  // All zero: modes 0 only reads.
  const timex = Buffer.alloc(timexOctets);
  if (libc.functions.adjtimex(timex) < 0) return { reason: 'adjtimex(2) is not allowed here' };
  return { synchronized: (timex.readInt32LE(statusAt) & unsynchronized) === 0 };
}
