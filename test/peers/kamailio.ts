/** Kamailio, a real SIP server over TLS that a test starts, kills and restarts: a customer's PBX, or a carrier. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { PbxFile } from '#shared/pbx/facts.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { family, isAlive } from '../kit/programs/processes.ts';

interface Listening {
  readonly port: number;
  readonly pair: TestKeyPair;
}

/** A customer's PBX with the text of the API, where a test wants another address and other paths. */
interface PbxOptions extends Listening {
  readonly files: readonly PbxFile[];
  /** PEM of the authorities that it trusts. */
  readonly trusted: string;
}

/** A proxy that routes every call to one phone, for any dialed number, and record-routes. */
interface CarrierOptions extends Listening {
  /** The phone's TLS port on 127.0.0.1, and its user part. */
  readonly callee: { readonly user: string; readonly port: number };
}

/** The proxy of `deploy/kamailio`, in front of edges. */
interface EdgeProxyOptions extends Listening {
  readonly address: string;
  /** Ports of the edges on 127.0.0.1. */
  readonly edges: readonly number[];
  /** PEM of the authority that issued the edges' certificates. */
  readonly trusted: string;
}

export type KamailioOptions = PbxOptions | CarrierOptions | EdgeProxyOptions;

const deployed = join(import.meta.dirname, '..', '..', 'deploy', 'kamailio');

/** Debian's path of the modules. */
const modules = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/kamailio/modules/`)
  .find((folder) => existsSync(folder));

/** Characters of output: tests count lines in it. */
const keptOutput = 1_000_000;

/** Debian's path: not in the PATH of users other than root. */
const program = '/usr/sbin/kamailio';

export class Kamailio {
  readonly #options: KamailioOptions;
  #child: ChildProcess | null = null;
  #folder = '';
  #output = '';

  private constructor(options: KamailioOptions) {
    this.#options = options;
  }

  static async start(options: KamailioOptions): Promise<Kamailio> {
    const kamailio = new Kamailio(options);
    await kamailio.start();
    return kamailio;
  }

  /** Its output since the last start; each accepted REGISTER of a PBX, or INVITE and OPTIONS of a carrier, is a line. */
  get output(): string {
    return this.#output;
  }

  /** How a shell starts the commands of Debian's package for this proxy, which are in no PATH of all users. */
  get programs(): Readonly<Record<'kamailio' | 'kamcmd', string>> {
    return {
      kamailio: `${program} -f ${join(this.#folder, 'kamailio.cfg')}`,
      kamcmd: `/usr/sbin/kamcmd -s unix:${join(this.#folder, 'run', 'kamailio_ctl')}`,
    };
  }

  /** Starts it without any registration. Resolves when it listens. */
  async start(): Promise<void> {
    if (this.#child) throw new Error('Kamailio runs');
    this.#folder = await mkdtemp(join(tmpdir(), 'trunkline-kamailio-'));
    this.#output = '';
    const run = join(this.#folder, 'run');
    await mkdir(run);
    await this.#writeConfiguration();
    const file = join(this.#folder, 'kamailio.cfg');
    const child = spawn(program, ['-f', file, '-DD', '-E', '-m', '64', '-M', '8', '-Y', run], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString('utf8')).slice(-keptOutput);
      });
    }
    try {
      await eventually('Kamailio to listen', () => this.#listens(child));
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /** Kills it and its processes at once, as a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const members = family(child.pid);
      const exited = new Promise((resolve) => child.once('exit', resolve));
      for (const pid of members) process.kill(pid, 'SIGKILL');
      await exited;
      await eventually('the processes of Kamailio to end', () => (members.some(isAlive) ? null : true));
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #writeConfiguration(): Promise<void> {
    if (modules === undefined) throw new Error('the modules of Kamailio are not installed');
    if ('edges' in this.#options) return this.#writeDeployed(this.#options);
    if ('files' in this.#options) return this.#writePbx(this.#options);
    const { port, pair, callee } = this.#options;
    const words = {
      CALLEE: callee.user,
      CALLEE_PORT: String(callee.port),
      PORT: String(port),
      FOLDER: this.#folder,
      MODULES: modules,
    };
    let text = await readFile(join(import.meta.dirname, 'kamailio-carrier.cfg'), 'utf8');
    for (const [word, value] of Object.entries(words)) text = text.replaceAll(`@${word}@`, value);
    const file = (name: string) => join(this.#folder, name);
    await writeFile(file('kamailio.cfg'), text);
    await writeFile(file('cert.pem'), pair.cert);
    await writeFile(file('key.pem'), pair.key);
    const tls = [
      'method = TLSv1.2+',
      `certificate = ${file('cert.pem')}`,
      `private_key = ${file('key.pem')}`,
    ];
    await writeFile(file('tls.cfg'), ['[server:default]', ...tls, '[client:default]', ...tls, ''].join('\n'));
  }

  async #writePbx({ port, pair, trusted, files }: PbxOptions): Promise<void> {
    for (const { path, text } of files) {
      const own = text
        .replaceAll('/etc/kamailio/', `${this.#folder}/`)
        .replaceAll(/(?:203\.0\.113\.10|pbx\.example\.com):5061/g, `127.0.0.1:${port}`);
      await writeFile(join(this.#folder, basename(path)), `${own}\n`);
    }
    await this.#writeKeys({ 'pbx.crt': pair.cert, 'pbx.key': pair.key, 'trusted.pem': trusted });
  }

  /** The files that operators get, with the folder, addresses and edges of the test. */
  async #writeDeployed({ port, pair, address, edges, trusted }: EdgeProxyOptions): Promise<void> {
    const files: Record<string, string> = {
      'dispatcher.list': edges
        .map((edge) => `1 sip:127.0.0.1:${edge};transport=tls 0 0 rweight=50\n`)
        .join(''),
    };
    for (const name of ['kamailio.cfg', 'local.cfg', 'tls.cfg']) {
      const text = await readFile(join(deployed, name), 'utf8');
      files[name] = text
        .replaceAll('/etc/kamailio/', `${this.#folder}/`)
        .replaceAll('192.0.2.10:5061', `${address}:${port}`)
        .replaceAll('192.0.2.10', address);
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(this.#folder, name), text);
    await this.#writeKeys({ 'proxy.crt': pair.cert, 'proxy.key': pair.key, 'trusted.pem': trusted });
  }

  async #writeKeys(pems: Readonly<Record<string, string>>): Promise<void> {
    await mkdir(join(this.#folder, 'tls'));
    for (const [name, pem] of Object.entries(pems)) await writeFile(join(this.#folder, 'tls', name), pem);
  }

  /** Reads the kernel's table, because Kamailio logs a test connection. */
  async #listens(child: ChildProcess): Promise<true | null> {
    if (child.exitCode !== null) throw new Error(`Kamailio ended with ${child.exitCode}:\n${this.#output}`);
    const hex = this.#options.port.toString(16).toUpperCase().padStart(4, '0');
    const listening = new RegExp(`^\\s*\\d+: [0-9A-F]{8}:${hex} 00000000:0000 0A `, 'm');
    return listening.test(await readFile('/proc/net/tcp', 'utf8')) || null;
  }
}
