/** Runs a target in a separate process and watches its memory and progress. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Order, type Report, readSlot } from './slot.ts';

/** Heap of the process, MiB: much more than an input may need. */
const heapMb = 256;
/** Of the whole process, including buffers outside the heap, bytes. */
const mostResident = 1024 * 1024 * 1024;
/** CPU time without a next input after which the input counts as hanging, seconds. */
const hangS = 60;
/** Linux counts CPU time in hundredths of a second, and memory in pages. */
const ticksPerSecond = 100;
const pageOctets = 4096;

export interface Outcome {
  readonly summary: string;
  /** Null: nothing was found. */
  readonly problem: string | null;
  readonly input: Buffer;
}

/** @param program of the process; another one in the test of this file */
export async function run(
  order: Omit<Order, 'slot'>,
  program = new URL('./child.ts', import.meta.url),
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
  const slot = join(folder, 'input');
  writeFileSync(slot, '');
  const child = fork(program, [JSON.stringify({ ...order, slot } satisfies Order)], {
    execArgv: [`--max-old-space-size=${heapMb}`, '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Outcome>((resolve) => {
      const fail = (problem: string) => {
        const { tries, input } = readSlot(slot);
        resolve({ summary: `${tries} inputs`, problem, input });
      };
      let said = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-20_000);
      });
      child.once('message', (report: Report) =>
        resolve({ ...report, input: Buffer.from(report.input, 'base64') }),
      );
      child.once('close', (code, signal) => fail(`the process ended (${signal ?? code}): ${said}`));
      timer = setInterval(watch(child, slot, fail), 200);
    });
  } finally {
    clearInterval(timer);
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

function watch(child: ChildProcess, slot: string, fail: (problem: string) => void): () => void {
  let last = -1;
  let since = 0;
  return () => {
    const used = usage(child);
    if (!used) return;
    if (used.octets > mostResident) fail(`the process takes ${Math.round(used.octets / 1_048_576)} MiB`);
    const { tries } = readSlot(slot);
    if (tries !== last) since = used.cpuS;
    last = tries;
    if (used.cpuS - since > hangS) fail(`does not end: ${hangS} s of CPU`);
  };
}

/** Null: it has ended. */
function usage({ pid }: ChildProcess): { cpuS: number; octets: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return { cpuS: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond, octets: pages * pageOctets };
  } catch {
    return null;
  }
}
