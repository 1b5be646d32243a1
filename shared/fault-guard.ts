/**
 * Ends a program after an uncaught fault: its state can no longer be trusted, so it writes a report, shuts down
 * within a time limit, and exits with 70. The supervisor or systemd restarts it.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, faultFile, faultReport } from '#shared/fault-report.ts';

/** What the guard needs once the program has read its settings. */
export interface GuardedParts {
  /** `$TRUNKLINE_DATA` */
  readonly dataFolder: string;
  readonly underWay: () => Readonly<Record<string, unknown>>;
  readonly log: (error: unknown, message: string, facts: Record<string, unknown>) => void;
  /** Stops accepting work and lets running work end. */
  readonly drain: () => Promise<unknown>;
  /** Time limit of `drain`, ms. */
  readonly drainMs: number;
}

export interface ProgramGuard {
  /** A fault before this is written to standard error and ends the program at once. */
  attach(parts: GuardedParts): void;
  /** Writes a report when a bug has stopped the start. */
  startFailed(error: unknown): void;
}

type Program = Pick<Fault, 'program' | 'version'>;

/** sysexits.h EX_SOFTWARE. */
const exitFault = 70;
/** Maximum reports in the folder; the oldest are deleted. */
const mostReports = 50;

/** Replaces Node's own handling of uncaught faults. Called before all else. */
export function guardProgram(program: Program): ProgramGuard {
  let parts: GuardedParts | null = null;
  let isEnding = false;
  const end = (kind: Fault['kind'], error: unknown): void => {
    const file = safely(() => writeReport(program, parts, kind, error)) ?? null;
    safely(() => parts?.log(error, 'unexpected fault: draining and exiting', { kind, report: file }));
    // A second fault during the shutdown is ignored: the time limit is already set.
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

/** @returns the file; null: no folder is known, and the report went to standard error */
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
  // Reports of all programs, oldest first per program: names start with the program.
  const reports = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const byTime = reports.sort((a, b) => (a.slice(a.indexOf('-')) < b.slice(b.indexOf('-')) ? -1 : 1));
  for (const old of byTime.slice(0, Math.max(0, byTime.length - mostReports))) rmSync(join(folder, old));
  return file;
}

/** A fault in fault handling must not hide the first one. */
function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
