/** SIPp sets up and tears down calls over one TLS connection, or one for each call. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sippProgram } from '../../scripts/setup/sipp.ts';
import { cpuMs } from './cpu-time.ts';

export interface SippRun {
  readonly succeeded: number;
  readonly failed: number;
  readonly seconds: number;
  readonly cpuMs: number;
  /** From INVITE to 200, 99 of 100 calls, ms. */
  readonly setUpMs: number;
}

interface SippOrder {
  readonly folder: string;
  /** File with the authority's certificate. */
  readonly ca: string;
  readonly port: number;
  /** Whom the calls are for. */
  readonly number: string;
  readonly rate: number;
  readonly calls: number;
  readonly connectionPerCall: boolean;
}

export async function runSipp({
  folder,
  ca,
  port,
  number,
  rate,
  calls,
  connectionPerCall,
}: SippOrder): Promise<SippRun> {
  const statistics = join(folder, 'statistics.csv');
  const sipp = spawn(
    sippProgram(),
    [
      `127.0.0.1:${port}`,
      ...['-sf', join(import.meta.dirname, 'uac-load.xml'), '-s', number],
      ...[
        '-t',
        connectionPerCall ? 'ln' : 'l1',
        '-max_socket',
        '10000',
        '-tls_ca',
        ca,
        '-i',
        '127.0.0.1',
        '-nostdin',
      ],
      ...['-r', String(rate), '-m', String(calls), '-l', '20000'],
      ...['-trace_stat', '-stf', statistics, '-fd', '1', '-timeout', '120s'],
      ...['-trace_rtt', '-rtt_freq', '20'],
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  const startedAt = performance.now();
  let used = 0;
  // SIPp's CPU time cannot be read after it has ended.
  const watch = setInterval(() => {
    used = cpuMs(sipp.pid);
  }, 100);
  await once(sipp, 'close');
  clearInterval(watch);
  const seconds = (performance.now() - startedAt) / 1000;
  const [header = '', ...rows] = readFileSync(statistics, 'utf8').trim().split('\n');
  const names = header.split(';');
  const last = (rows.at(-1) ?? '').split(';');
  const value = (name: string): number => Number(last[names.indexOf(name)] ?? 0);
  return {
    succeeded: value('SuccessfulCall(C)'),
    failed: value('FailedCall(C)'),
    seconds,
    cpuMs: used,
    setUpMs: percentile99(join(folder, `uac-load_${sipp.pid}_rtt.csv`)),
  };
}

/** Of the second column; NaN without the file, which SIPp does not write when it ends early. */
function percentile99(file: string): number {
  if (!existsSync(file)) return Number.NaN;
  const times = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const time = Number(line.split(';')[1]);
      return Number.isFinite(time) ? [time] : [];
    });
  times.sort((one, other) => one - other);
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
