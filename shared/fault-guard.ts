/**
 * The end of a program by a fault that nobody caught: nothing it holds can be trusted any more, so it writes a
 * report, ends what it can in bounded time, and exits with 70. The supervisor or systemd starts it again.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, faultFile, faultReport } from '#shared/fault-report.ts';

export interface GuardOptions {
  readonly program: Fault['program'];
  readonly version: string;
  /** `$TRUNKLINE_DATA`; null: no report is written, because nobody has said where. */
  readonly dataFolder: string | null;
  readonly underWay: () => Readonly<Record<string, unknown>>;
  readonly log: (error: unknown, message: string, facts: Record<string, unknown>) => void;
  /** Ends what runs: no new work, the old may end. */
  readonly drain: () => Promise<unknown>;
  /** Longest time of `drain`, ms. */
  readonly drainMs: number;
}

/** sysexits.h EX_SOFTWARE. */
const exitFault = 70;
/** Reports kept in the folder; the oldest go. */
const mostReports = 50;

/** Takes the place of Node's own handling of faults, for the rest of the program. */
export function guardProgram(options: GuardOptions): void {
  let isEnding = false;
  const end = (kind: Fault['kind'], error: unknown): void => {
    const file = safely(() => writeReport(options, kind, error)) ?? null;
    safely(() => options.log(error, 'unknown fault: the program drains and ends', { kind, report: file }));
    // A second fault while it ends changes nothing: the first has set the time.
    if (isEnding) return;
    isEnding = true;
    setTimeout(() => process.exit(exitFault), options.drainMs);
    const drained = safely(() => options.drain()) ?? Promise.resolve();
    drained.then(
      () => process.exit(exitFault),
      () => process.exit(exitFault),
    );
  };
  process.on('uncaughtException', (error) => end('uncaughtException', error));
  process.on('unhandledRejection', (error) => end('unhandledRejection', error));
}

/** @returns the file */
function writeReport(options: GuardOptions, kind: Fault['kind'], error: unknown): string | null {
  const { dataFolder, program, version } = options;
  if (dataFolder === null) return null;
  const folder = join(dataFolder, 'faults');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const at = Date.now();
  const underWay = safely(options.underWay) ?? { unknown: true };
  const uptimeS = Math.round(process.uptime());
  const fault = { program, kind, error, at, uptimeS, version, node: process.version, underWay };
  const file = join(folder, faultFile(fault, process.pid));
  writeFileSync(file, faultReport(fault), { mode: 0o600 });
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
