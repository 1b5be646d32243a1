/** A machine with both packages: its programs, and what is asked of them. */

import type { PackageName } from '../../scripts/command/table.ts';
import { command } from '../../scripts/setup/command.mjs';
import { Machine } from './machine.ts';
import { Programs } from './programs.ts';

interface Call {
  readonly outcome: string;
}

/** Until a program says that it is ready, or has ended. */
export const limitMs = 180_000;

/** Prints 200 when that is what /health says; run inside the root and its network. */
const waitForHealth = `
const end = Date.now() + ${limitMs};
for (;;) {
  const answer = await fetch('http://127.0.0.1:8080/health').catch(() => null);
  if (answer?.status === 200) { console.log('200'); break; }
  if (Date.now() > end) { console.log(answer ? await answer.text() : 'no answer'); break; }
  await new Promise((next) => setTimeout(next, 500));
}`;

export class Deployment {
  readonly machine: Machine;
  readonly programs: Programs;

  constructor(root: string, suite: string) {
    const network = `trunkline-${suite}-${process.pid}`;
    this.programs = new Programs(root, network);
    this.machine = new Machine({ root, name: suite, network, logs: () => this.programs.logs() });
  }

  /** Ends the programs that still run, and the network. */
  async end(): Promise<void> {
    this.programs.kill();
    await this.machine.end();
  }

  async startBoth(): Promise<void> {
    await this.programs.start('control');
    await this.programs.start('edge');
    await this.isHealthy();
  }

  async isHealthy(): Promise<void> {
    const said = (await this.node('control', waitForHealth)).trim();
    const missing = /Cannot find (?:module|package) '[^']+'/.exec(this.programs.output())?.[0];
    this.machine.check(missing === undefined, 'no file of a program is missing', missing);
    this.machine.check(
      said === '200',
      'both programs run, and /health is 200',
      `${said}\n${this.programs.logs()}`,
    );
  }

  async stop(program: PackageName): Promise<void> {
    const { code, lines } = await this.programs.stop(program);
    this.machine.check(code === 0, `${program} ends in order on SIGTERM`, `${code}\n${lines}`);
  }

  async stopBoth(): Promise<void> {
    await this.stop('edge');
    await this.stop('control');
  }

  async call(): Promise<void> {
    const { outcome } = JSON.parse(await this.trunkline(['call', '--json'])) as Call;
    this.machine.check(
      outcome === 'completed',
      `a call over TLS and SRTP is answered and ends as "${outcome}"`,
    );
  }

  /** In the network of the programs, as root: as an administrator calls it. */
  trunkline(args: readonly string[]): Promise<string> {
    return this.machine.inside('trunkline', args);
  }

  /** A program for the Node of a package. */
  node(program: PackageName, script: string): Promise<string> {
    return this.machine.inside(`/usr/lib/trunkline-${program}/bin/node`, [
      ...['--input-type=module', '-e', script],
    ]);
  }

  /** Without a running control plane: from the database. */
  async calls(): Promise<number> {
    return Number(
      await this.database(
        "console.log(database.prepare('select count(*) as calls from calls').get().calls);",
      ),
    );
  }

  /** As the service: files that SQLite makes beside the database are its own. */
  async database(script: string): Promise<string> {
    const file = '/usr/lib/trunkline-control/package.json';
    const program = `
      const { createRequire } = await import('node:module');
      const Database = createRequire('${file}')('better-sqlite3');
      const database = new Database('/var/lib/trunkline/control.db');
      ${script}
      database.close();`;
    const node = '/usr/lib/trunkline-control/bin/node';
    return await this.machine.chroot('setpriv', [
      ...['--reuid=trunkline', '--regid=trunkline', '--clear-groups'],
      ...[node, '--input-type=module', '-e', program],
    ]);
  }
}

/** A cable between two machines, each with an address of the pages. */
export async function connect(
  one: { readonly machine: Machine; readonly address: string },
  other: { readonly machine: Machine; readonly address: string },
): Promise<void> {
  const must = async (args: readonly string[]) => {
    const { code, output } = await command('ip', args);
    if (code !== 0) throw new Error(`ip ${args.join(' ')}: ${output}`);
  };
  const [here, there] = [one.machine.network, other.machine.network];
  await must(['-n', here, 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', there]);
  for (const [end, far] of [
    [one, other],
    [other, one],
  ] as const) {
    const network = end.machine.network;
    await must(['-n', network, 'addr', 'add', `${end.address}/32`, 'dev', 'cable']);
    await must(['-n', network, 'link', 'set', 'cable', 'up']);
    await must(['-n', network, 'route', 'add', far.address, 'dev', 'cable', 'src', end.address]);
  }
}
