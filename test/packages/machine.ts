/** A fresh Debian with a network of its own: what an administrator does there, and what was seen. */
import { copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { command } from '../../scripts/setup/command.mjs';
import { tail } from '../../scripts/setup/trouble.mjs';

/** That of a fresh root: none of this machine's. */
export const cleanEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
  DEBIAN_FRONTEND: 'noninteractive',
  HOME: '/root',
};

/**
 * An administrator who is asked whether to go on says yes. The index of testing is valid for a week, and a mirror may be
 * older; its signature is checked all the same.
 */
const aptSettings = 'APT::Get::Assume-Yes "true";\nAcquire::Check-Valid-Until "false";\n';

export interface MachineOptions {
  /** The folder of a fresh root. */
  readonly root: string;
  /** For people: the first words of each line. */
  readonly name: string;
  readonly network: string;
  /** What its programs have said, for an error. */
  readonly logs?: () => string;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly output: string;
}

export class Machine {
  readonly root: string;
  readonly name: string;
  readonly network: string;
  readonly #logs: () => string;

  constructor({ root, name, network, logs = () => '' }: MachineOptions) {
    this.root = root;
    this.name = name;
    this.network = network;
    this.#logs = logs;
  }

  /** Its network, and what its Debian has to install. */
  async prepare(): Promise<void> {
    await this.outside('ip', ['netns', 'add', this.network]);
    await this.outside('ip', ['-n', this.network, 'link', 'set', 'lo', 'up']);
    await writeFile(this.path('etc/apt/apt.conf.d/90test'), aptSettings);
    await this.chroot('apt-get', ['-q', 'update']);
  }

  async end(): Promise<void> {
    await command('ip', ['netns', 'delete', this.network]);
  }

  /** On this machine. */
  path(inside: string): string {
    return join(this.root, inside);
  }

  /** Files of packages. */
  async install(files: readonly string[]): Promise<void> {
    for (const file of files) await copyFile(file, this.path(join('tmp', basename(file))));
    const names = files.map((file) => `/tmp/${basename(file)}`);
    await this.apt(['--no-install-recommends', 'install', ...names]);
  }

  /** In the network of this machine, which reaches the mirror. */
  apt(args: readonly string[]): Promise<string> {
    return this.chroot('apt-get', ['-q', '-y', ...args]);
  }

  /** In the network of this machine. */
  chroot(program: string, args: readonly string[]): Promise<string> {
    return this.must(['chroot', this.root, program, ...args]);
  }

  /** In its own network, as root. */
  inside(program: string, args: readonly string[]): Promise<string> {
    return this.must(this.argvOf(program, args));
  }

  /** Lines of a shell in its own network, as root in /root. */
  shell(script: string): Promise<Ran> {
    return this.run(this.argvOf('bash', ['-euo', 'pipefail', '-c', `cd /root\n${script}`]));
  }

  argvOf(program: string, args: readonly string[]): readonly string[] {
    return ['ip', 'netns', 'exec', this.network, 'chroot', this.root, program, ...args];
  }

  outside(program: string, args: readonly string[]): Promise<string> {
    return this.must([program, ...args]);
  }

  async must(argv: readonly string[]): Promise<string> {
    const { code, stdout, output } = await this.run(argv);
    if (code !== 0)
      throw new Error(
        `${this.name}: ${argv.join(' ')} ended with ${code}\n${tail(output, 40)}\n${this.#logs()}`,
      );
    return stdout;
  }

  run([program = '', ...args]: readonly string[]): Promise<Ran> {
    return command(program, args, { env: { ...cleanEnvironment } });
  }

  /** @throws Error with the sentence, and what was seen instead */
  check(holds: boolean, sentence: string, seen = ''): void {
    if (!holds) throw new Error(`${this.name}: not so: ${sentence}${seen === '' ? '' : `\n${seen}`}`);
    this.tell(sentence);
  }

  /** What was waited for, and has happened. */
  tell(sentence: string): void {
    console.log(`ok  ${this.name}: ${sentence}`);
  }
}
