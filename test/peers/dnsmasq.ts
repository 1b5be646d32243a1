/** dnsmasq, a real name server on loopback, with the records of a test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';

const program = '/usr/sbin/dnsmasq';

export class Dnsmasq {
  /** `address:port`, as the edge takes it. */
  readonly server: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, server: string) {
    this.#child = child;
    this.server = server;
  }

  /** @param records options of dnsmasq, for example `--host-record=a.test,127.0.0.1`; other names do not exist */
  static async start(records: readonly string[]): Promise<Dnsmasq> {
    const port = await freeTcpPort();
    const child = spawn(
      program,
      [
        ...['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--pid-file='],
        ...['--user=', '--group=', '--log-facility=-', '--bind-interfaces', '--listen-address=127.0.0.1'],
        ...['--local=/test/', `--port=${port}`, ...records],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-4000);
    });
    child.once('error', (error) => {
      output += `${error.message}: apt-get install dnsmasq-base`;
    });
    await eventually('dnsmasq to be up', () => {
      if (child.pid === undefined || child.exitCode !== null) throw new Error(`dnsmasq ended: ${output}`);
      return output.includes('started, version') || null;
    });
    return new Dnsmasq(child, `127.0.0.1:${port}`);
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
