/**
 * The end of a program by a fault that nobody caught: nothing it holds can be trusted any more, so it writes a
 * report, ends what it can in bounded time, and exits with 70. The supervisor or systemd starts it again.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, faultFile, faultReport } from '#shared/fault-report.ts';

/** What a guard knows once the program has read its settings. */
export interface GuardedParts {
  /** `$TRUNKLINE_DATA` */
  readonly dataFolder: string;
  readonly underWay: () => Readonly<Record<string, unknown>>;
  readonly log: (error: unknown, message: string, facts: Record<string, unknown>) => void;
  /** Ends what runs: no new work, the old may end. */
  readonly drain: () => Promise<unknown>;
  /** Longest time of `drain`, ms. */
  readonly drainMs: number;
}

export interface ProgramGuard {
  /** A fault before this is written to standard error and ends the program at once. */
  attach(parts: GuardedParts): void;
  /** Leaves a report of a start that a bug has ended. */
  startFailed(error: unknown): void;
}

type Program = Pick<Fault, 'program' | 'version'>;

/** sysexits.h EX_SOFTWARE. */
const exitFault = 70;
/** Reports kept in the folder; the oldest go. */
const mostReports = 50;

/** Takes the place of Node's own handling of faults, for the rest of the program. Called before all else. */
export function guardProgram(program: Program): ProgramGuard {
  let parts: GuardedParts | null = null;
  let isEnding = false;
  const end = (kind: Fault['kind'], error: unknown): void => {
    const file = safely(() => writeReport(program, parts, kind, error)) ?? null;
    safely(() => parts?.log(error, 'unknown fault: the program drains and ends', { kind, report: file }));
    // A second fault while it ends changes nothing: the first has set the time.
    if (isEnding) return;
    isEnding = true;
    setTimeout(() => process.exit(exitFault), parts?.drainMs ?? 0);
    const drained = safely(() => parts?.drain()) ?? Promise.resolve();
    drained.then(
      () => process.exit(exitFault),
      () => process.exit(exitFault),
    );
  };
  process.on('uncaughtException', (error) => end('uncaughtException', error));
  process.on('unhandledRejection', (error) => end('unhandledRejection', error));
  return {
    attach: (given) => {
      parts = given;
    },
    startFailed: (error) => void safely(() => writeReport(program, parts, 'startFailure', error)),
  };
}

/** @returns the file; null: nobody has said where to, and it went to standard error */
function writeReport(
  program: Program,
  parts: GuardedParts | null,
  kind: Fault['kind'],
  error: unknown,
): string | null {
  const at = Date.now();
  const underWay = parts ? (safely(parts.underWay) ?? { unknown: true }) : { starting: true };
  const uptimeS = Math.round(process.uptime());
  const fault: Fault = { ...program, kind, error, at, uptimeS, node: process.version, underWay };
  const text = faultReport(fault, process.env);
  if (!parts) {
    process.stderr.write(text);
    return null;
  }
  const folder = join(parts.dataFolder, 'faults');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, faultFile(fault, process.pid));
  writeFileSync(file, text, { mode: 0o600 });
  // Of all programs, by time: the names begin with the program.
  const reports = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const byTime = reports.sort((a, b) => (a.slice(a.indexOf('-')) < b.slice(b.indexOf('-')) ? -1 : 1));
  for (const old of byTime.slice(0, Math.max(0, byTime.length - mostReports))) rmSync(join(folder, old));
  return file;
}

/** A fault in the handling of a fault must not hide the first. */
function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
