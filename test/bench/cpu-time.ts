import { readFileSync } from 'node:fs';

/** CPU time of a process so far, ms (proc(5): utime and stime in ticks of 10 ms); 0 when it is gone. */
export function cpuMs(pid: number | undefined): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}
