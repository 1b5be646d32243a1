/** SIPp as a carrier that calls all the time, over one TLS connection, until it is told to stop. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sippProgram } from '../../scripts/setup/sipp.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';

/** Number that its calls come from. */
export const loadCaller = '+14155550199';

interface CarrierLoadOptions {
  /** `address:port` of the proxy. */
  readonly target: string;
  readonly number: string;
  /** Address that the carrier calls from. */
  readonly source: string;
  readonly callsPerSecond: number;
}

interface Counts {
  readonly created: number;
  readonly succeeded: number;
  readonly failed: number;
}

export class CarrierLoad {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#exited = new Promise((resolve) => child.once('exit', resolve));
  }

  static async start({ target, number, source, callsPerSecond }: CarrierLoadOptions): Promise<CarrierLoad> {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-load-'));
    await writeFile(join(folder, 'statistics.csv'), '');
    const args = [
      target,
      ...['-sf', join(import.meta.dirname, 'uac-carrier-load.xml'), '-s', number, '-t', 'l1'],
      ...['-i', source, '-bind_local', '-mi', source, '-r', String(callsPerSecond), '-nostdin'],
      ...['-min_rtp_port', '32000', '-max_rtp_port', '32767'],
      ...['-recv_timeout', '60000', '-trace_stat', '-stf', join(folder, 'statistics.csv'), '-fd', '1'],
      ...['-trace_err', '-error_file', join(folder, 'errors')],
    ];
    const child = spawn(sippProgram(), args, { cwd: folder, stdio: 'ignore' });
    return new CarrierLoad(child, folder);
  }

  /** Resolves when that many more calls have ended well than when it is called. */
  async progress(calls: number): Promise<void> {
    const before = this.#counts().succeeded;
    await eventually(`${calls} more calls to end`, () => {
      if (this.#child.exitCode !== null) throw new Error(`SIPp ended early\n${this.#errors()}`);
      return saw(this.#counts()).succeeded >= before + calls ? true : null;
    });
  }

  /** Places no more calls, and waits for the last one. */
  async finish(): Promise<Counts & { readonly errors: string }> {
    this.#child.kill('SIGUSR1');
    await this.#exited;
    return { ...this.#counts(), errors: this.#errors() };
  }

  /** Ends the program if it still runs, and removes its files. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGKILL');
    await this.#exited;
    await rm(this.#folder, { recursive: true, force: true });
  }

  #counts(): Counts {
    const [head = '', ...rows] = readFileSync(join(this.#folder, 'statistics.csv'), 'utf8')
      .trim()
      .split('\n');
    const names = head.split(';');
    const last = rows.at(-1)?.split(';') ?? [];
    const of = (name: string) => Number(last[names.indexOf(name)] ?? 0);
    return {
      created: of('TotalCallCreated'),
      succeeded: of('SuccessfulCall(C)'),
      failed: of('FailedCall(C)'),
    };
  }

  #errors(): string {
    const file = join(this.#folder, 'errors');
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-4000) : '';
  }
}
