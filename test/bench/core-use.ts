/** How long threads have run, and how long they were ready to run and waited for a core. */
import { readdirSync, readFileSync } from 'node:fs';
import { commandLine } from '../kit/programs/processes.ts';

export interface CoreUse {
  readonly ranMs: number;
  readonly waitedMs: number;
}

/** Parts of a whole Trunkline. The edge's process has three: SIP and calls, its shards, and all other threads. */
export const parts = ['signaling', 'shards', 'other threads', 'media workers', 'engine', 'control'] as const;

export type Part = (typeof parts)[number];

export type Uses = Readonly<Record<Part, CoreUse>>;

/** So far. @param pids the processes of control and edge */
export function usesOf(pids: readonly number[]): Uses {
  const uses = Object.fromEntries(parts.map((part) => [part, { ranMs: 0, waitedMs: 0 }])) as Record<
    Part,
    { ranMs: number; waitedMs: number }
  >;
  for (const pid of pids) {
    const program = commandLine(pid);
    for (const thread of threadsOf(pid)) {
      const use = uses[partOf(program, thread)];
      use.ranMs += thread.ranMs;
      use.waitedMs += thread.waitedMs;
    }
  }
  return uses;
}

/** Of one process so far; nothing when it is gone. */
export function useOf(pid: number | undefined): CoreUse {
  const threads = threadsOf(pid);
  const sum = (pick: (thread: Thread) => number) => threads.reduce((all, thread) => all + pick(thread), 0);
  return { ranMs: sum(({ ranMs }) => ranMs), waitedMs: sum(({ waitedMs }) => waitedMs) };
}

interface Thread extends CoreUse {
  readonly isMain: boolean;
  readonly nice: number;
}

function partOf(program: string, { isMain, nice }: Thread): Part {
  if (program.includes('mediasoup-worker')) return 'media workers';
  if (program.includes('engine/main.ts')) return 'engine';
  if (!program.includes('edge/main.ts')) return 'control';
  if (isMain) return 'signaling';
  // Shards alone raise their priority (shared/audio-priority.ts).
  return nice < 0 ? 'shards' : 'other threads';
}

function threadsOf(pid: number | undefined): Thread[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((id) => threadOf(Number(pid), id));
  } catch {
    return [];
  }
}

/** proc(5): nice is the 19th field of `stat`; `schedstat` has nanoseconds on a core and waiting for one. */
function threadOf(pid: number, id: string): Thread[] {
  try {
    const folder = `/proc/${pid}/task/${id}`;
    const [ran, waited] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
    const stat = readFileSync(`${folder}/stat`, 'utf8');
    const nice = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    return [{ isMain: id === String(pid), nice, ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 }];
  } catch {
    return [];
  }
}
