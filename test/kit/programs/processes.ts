/** Process data from the kernel: children, descriptors, memory. Linux only, as the tests are. */
import { readdirSync, readFileSync } from 'node:fs';

/** All descendants of a process, itself first. */
export function family(pid: number): number[] {
  // Process 0 is the parent of everything.
  if (pid <= 1) throw new Error(`${pid} is no process of a test`);
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number(name));
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const all = [pid];
  for (const one of all) all.push(...(children.get(one) ?? []));
  return all;
}

/** Whether a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  return parentOf(pid) !== null;
}

/** Open file descriptors, sockets among them. */
export function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  return inMiB(pid, 'VmRSS');
}

/** Of it what is no file's, in MiB: what other processes have mapped makes no difference to it. */
export function anonymousMiB(pid: number): number {
  return inMiB(pid, 'RssAnon');
}

function inMiB(pid: number, field: 'VmRSS' | 'RssAnon'): number {
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )?.[1];
  return Number(kib ?? 0) / 1024;
}

/** First words of the command line, to distinguish processes of a family. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain anything; the state and the parent follow the last one.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? null : Number(parent);
  } catch {
    return null;
  }
}
