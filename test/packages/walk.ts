/** One Debian root from an installation to a purge, step by step; each step prints one line, the first failing one ends it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { PackageName } from '../../scripts/command/table.ts';
import { command } from '../../scripts/setup/command.mjs';
import { tail } from '../../scripts/setup/trouble.mjs';
import { Programs } from './programs.ts';

export interface Packages {
  /** Files of an earlier version, and of this one. */
  readonly earlier: readonly string[];
  readonly now: readonly string[];
}

interface Call {
  readonly outcome: string;
}

const backupFolder = '/srv/backup/before';

/** That of a fresh root: none of this machine's. */
const cleanEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
  DEBIAN_FRONTEND: 'noninteractive',
  HOME: '/root',
};

/** Until a program says that it is ready, or has ended. */
const limitMs = 180_000;

/** Prints 200 when that is what /health says; run inside the root and its network. */
const waitForHealth = `
const end = Date.now() + ${limitMs};
for (;;) {
  const answer = await fetch('http://127.0.0.1:8080/health').catch(() => null);
  if (answer?.status === 200) { console.log('200'); break; }
  if (Date.now() > end) { console.log(answer ? await answer.text() : 'no answer'); break; }
  await new Promise((next) => setTimeout(next, 500));
}`;

export class Walk {
  readonly #root: string;
  readonly #suite: string;
  readonly #packages: Packages;
  readonly #network: string;
  readonly #programs: Programs;

  constructor(root: string, suite: string, packages: Packages) {
    this.#root = root;
    this.#suite = suite;
    this.#packages = packages;
    this.#network = `trunkline-${suite}-${process.pid}`;
    this.#programs = new Programs(root, this.#network);
  }

  async all(): Promise<void> {
    await this.#prepare();
    await this.#install();
    await this.#settings();
    await this.#startBoth();
    await this.#call();
    await this.#pages();
    await this.#commands();
    await this.#stopDuringCall();
    await this.#upgrade();
    await this.#wayBack();
    await this.#apt(this.#packages.now);
    await this.#remove();
    await this.#purge();
  }

  /** Ends the programs that still run, and the network. */
  async end(): Promise<void> {
    this.#programs.kill();
    await command('ip', ['netns', 'delete', this.#network]);
  }

  async #prepare(): Promise<void> {
    await this.#outside('ip', ['netns', 'add', this.#network]);
    await this.#outside('ip', ['-n', this.#network, 'link', 'set', 'lo', 'up']);
    await this.#chroot('apt-get', ['-q', 'update']);
  }

  async #install(): Promise<void> {
    await this.#apt(this.#packages.earlier);
    const version = (await this.#chroot('trunkline', ['--version'])).trim();
    this.#check(version === 'trunkline 0.0.1', `an earlier version is installed (${version})`);
    const owners = await this.#chroot('stat', [
      '-c',
      '%U:%G %a %n',
      '/etc/trunkline',
      '/etc/trunkline/control.env',
      '/etc/trunkline/edge.env',
      '/var/lib/trunkline',
    ]);
    this.#check(
      owners.trim() ===
        'root:trunkline 750 /etc/trunkline\nroot:trunkline 640 /etc/trunkline/control.env\nroot:trunkline 640 /etc/trunkline/edge.env\ntrunkline:trunkline 700 /var/lib/trunkline',
      `settings and data have their owners${owners.includes('trunkline:trunkline') ? '' : `: ${owners}`}`,
    );
    const sums = await this.#chroot('dpkg', ['--verify', 'trunkline-control', 'trunkline-edge']);
    this.#check(sums.trim() === '', 'dpkg --verify finds every file as in the packages');
    for (const page of [
      'usr/share/man/man8/trunkline-control.8.gz',
      'usr/share/man/man8/trunkline-edge.8.gz',
      'usr/lib/trunkline-control/share/trunkline.1.gz',
    ]) {
      const file = join(this.#root, page);
      const { output } = await command('sh', ['-c', 'zcat "$1" | groff -man -Tutf8 -ww -z', 'sh', file]);
      this.#check(output === '', `${basename(page)} is a manual page without warnings${output}`);
    }
  }

  async #settings(): Promise<void> {
    // As an administrator would: the settings of a machine with one address.
    await appendFile(
      join(this.#root, 'etc/trunkline/edge.env'),
      'SIP_PUBLIC_HOST=127.0.0.1\nRTP_PUBLIC_IP="127.0.0.1"\n',
    );
    await appendFile(join(this.#root, 'etc/trunkline/control.env'), 'SIP_PUBLIC_HOST=127.0.0.1\n');
  }

  async #startBoth(): Promise<void> {
    await this.#programs.start('control');
    await this.#programs.start('edge');
    const said = (await this.#node('control', waitForHealth)).trim();
    const missing = /Cannot find (?:module|package) '[^']+'/.exec(this.#programs.output())?.[0];
    this.#check(missing === undefined, `no file of a program is missing${missing ? `: ${missing}` : ''}`);
    this.#check(
      said === '200',
      `both programs run, and /health is 200${said === '200' ? '' : `: ${said}\n${this.#programs.logs()}`}`,
    );
  }

  async #stopBoth(): Promise<void> {
    await this.#stop('edge');
    await this.#stop('control');
  }

  async #stop(program: PackageName): Promise<void> {
    const { code, lines } = await this.#programs.stop(program);
    this.#check(code === 0, `${program} ends in order on SIGTERM${code === 0 ? '' : ` (${code})\n${lines}`}`);
  }

  /** As an upgrade stops an edge that has a call: a side of the call ends it, not the edge. */
  async #stopDuringCall(): Promise<void> {
    const [program = '', ...args] = this.#argvOf(['call']);
    const child = spawn(program, args, { env: cleanEnvironment, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const answered = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          if (/^answered/m.test(said)) resolve();
        });
    });
    await Promise.race([answered, ended]);
    const isUp = child.exitCode === null;
    await this.#stop('edge');
    await ended;
    // The edge ends what is left with another code.
    const holds = isUp && /"termination": "(?:agent|caller)_hangup"/.test(said);
    this.#check(
      holds,
      `a call that is up goes on after the order to stop, until a side hangs up${holds ? '' : `\n${tail(said, 60)}`}`,
    );
    await this.#stop('control');
  }

  async #call(): Promise<void> {
    const { outcome } = JSON.parse(await this.#trunkline(['call', '--json'])) as Call;
    this.#check(outcome === 'completed', `a call over TLS and SRTP is answered and ends as "${outcome}"`);
  }

  async #pages(): Promise<void> {
    for (const path of ['/', '/docs', '/docs/packages', '/openapi.json']) {
      const script = `const { status } = await fetch('http://127.0.0.1:8080${path}'); console.log(status);`;
      const status = (await this.#node('control', script)).trim();
      this.#check(status === '200', `GET ${path} is ${status}`);
    }
  }

  async #commands(): Promise<void> {
    const organizations = JSON.parse(await this.#trunkline(['admin', 'org', 'list', '--json'])) as unknown[];
    this.#check(organizations.length === 1, 'trunkline admin opens the data of the service');
    const backup = JSON.parse(await this.#trunkline(['backup', '--json'])) as { folder: string };
    const owner = await this.#chroot('stat', ['-c', '%U', backup.folder]);
    this.#check(
      owner.trim() === 'trunkline',
      `trunkline backup makes ${backup.folder}, which belongs to the service`,
    );
    const unknown = await this.#run(['chroot', this.#root, 'trunkline', 'bakup']);
    this.#check(
      unknown.code === 1 && unknown.output.includes('"backup"'),
      'an unknown command names the nearest one',
    );
  }

  async #upgrade(): Promise<void> {
    const before = await this.#calls();
    await this.#chroot('install', ['-d', '-m', '0700', '-o', 'trunkline', '/srv/backup']);
    await this.#trunkline(['backup', backupFolder]);
    await this.#apt(this.#packages.now);
    const version = (await this.#chroot('trunkline', ['--version'])).trim();
    this.#check(version !== 'trunkline 0.0.1', `the upgrade installs ${version}`);
    const settings = await readFile(join(this.#root, 'etc/trunkline/edge.env'), 'utf8');
    this.#check(
      settings.includes('RTP_PUBLIC_IP="127.0.0.1"'),
      'it keeps changed settings, and asks nothing',
    );
    await this.#startBoth();
    await this.#call();
    await this.#stopBoth();
    const after = await this.#calls();
    this.#check(after === before + 1, `the call log has ${after} calls, ${before} of them from before`);
  }

  /** As docs/packages.md says it, after an upgrade with a migration that the earlier version does not know. */
  async #wayBack(): Promise<void> {
    await this.#database(`
      database.prepare("insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01')").run();`);
    await this.#apt(this.#packages.earlier, ['--allow-downgrades']);
    const version = (await this.#chroot('trunkline', ['--version'])).trim();
    this.#check(version === 'trunkline 0.0.1', `the way back installs ${version}`);
    const { code, output } = await this.#programs.runToEnd('control');
    this.#check(
      code === 1 && output.includes('9999-later') && output.includes('restore a backup'),
      `until the restore, control of the earlier version does not start, and says why${code === 1 ? '' : ` (${code})\n${tail(output)}`}`,
    );
    await this.#trunkline(['restore', backupFolder, '--force']);
    const before = await this.#calls();
    await this.#startBoth();
    await this.#call();
    await this.#stopBoth();
    const after = await this.#calls();
    this.#check(
      after === before + 1,
      `the call log has the ${before} of the backup and the one from after it`,
    );
  }

  /** Without a running control plane: from the database. */
  async #calls(): Promise<number> {
    return Number(
      await this.#database(
        "console.log(database.prepare('select count(*) as calls from calls').get().calls);",
      ),
    );
  }

  /** As the service: files that SQLite makes beside the database are its own. */
  async #database(script: string): Promise<string> {
    const file = '/usr/lib/trunkline-control/package.json';
    const program = `
      const { createRequire } = await import('node:module');
      const Database = createRequire('${file}')('better-sqlite3');
      const database = new Database('/var/lib/trunkline/control.db');
      ${script}
      database.close();`;
    const node = '/usr/lib/trunkline-control/bin/node';
    return await this.#chroot('setpriv', [
      ...['--reuid=trunkline', '--regid=trunkline', '--clear-groups'],
      ...[node, '--input-type=module', '-e', program],
    ]);
  }

  async #remove(): Promise<void> {
    await this.#chroot('apt-get', ['-q', '-y', 'remove', 'trunkline-control', 'trunkline-edge']);
    const there = (path: string) => existsSync(join(this.#root, path));
    const left = [
      'usr/lib/trunkline-control',
      'usr/lib/trunkline-edge',
      'usr/bin/trunkline',
      'usr/lib/systemd/system/trunkline-edge.service',
    ].filter(there);
    this.#check(
      left.length === 0,
      `a removal takes programs and command${left.length === 0 ? '' : `, but not ${left.join(', ')}`}`,
    );
    const kept = [
      'etc/trunkline/edge.env',
      'etc/trunkline/control.env',
      'var/lib/trunkline/control.db',
      'var/lib/trunkline/secret.key',
    ];
    this.#check(kept.every(there), 'it keeps data, keys and settings');
  }

  async #purge(): Promise<void> {
    const there = (path: string) => existsSync(join(this.#root, path));
    // Of an administrator: no package made it.
    await writeFile(join(this.#root, 'etc/trunkline/server.key'), 'x');
    await this.#chroot('apt-get', ['-q', '-y', 'purge', 'trunkline-control']);
    this.#check(
      there('var/lib/trunkline/control.db') && !there('etc/trunkline/control.env'),
      'a purge of one package takes its settings, and leaves the data to the other',
    );
    await this.#chroot('apt-get', ['-q', '-y', 'purge', 'trunkline-edge']);
    this.#check(
      !there('var/lib/trunkline/control.db') &&
        !there('etc/trunkline/edge.env') &&
        there('var/lib/trunkline/backups') &&
        there('etc/trunkline/server.key'),
      'a purge of the last one takes the data; backups and files of an administrator stay',
    );
  }

  async #apt(files: readonly string[], options: readonly string[] = []): Promise<void> {
    for (const file of files) await copyFile(file, join(this.#root, 'tmp', basename(file)));
    const names = files.map((file) => `/tmp/${basename(file)}`);
    await this.#chroot('apt-get', ['-q', '-y', '--no-install-recommends', ...options, 'install', ...names]);
  }

  /** In the network of the programs, as root: as an administrator calls it. */
  #trunkline(args: readonly string[]): Promise<string> {
    return this.#must(this.#argvOf(args));
  }

  #argvOf(args: readonly string[]): readonly string[] {
    return ['ip', 'netns', 'exec', this.#network, 'chroot', this.#root, 'trunkline', ...args];
  }

  #node(program: PackageName, script: string): Promise<string> {
    const node = `/usr/lib/trunkline-${program}/bin/node`;
    return this.#must([
      'ip',
      'netns',
      'exec',
      this.#network,
      'chroot',
      this.#root,
      node,
      '--input-type=module',
      '-e',
      script,
    ]);
  }

  #chroot(program: string, args: readonly string[]): Promise<string> {
    return this.#must(['chroot', this.#root, program, ...args]);
  }

  #outside(program: string, args: readonly string[]): Promise<string> {
    return this.#must([program, ...args]);
  }

  async #must(argv: readonly string[]): Promise<string> {
    const { code, stdout, output } = await this.#run(argv);
    if (code !== 0)
      throw new Error(
        `${this.#suite}: ${argv.join(' ')} ended with ${code}\n${tail(output, 40)}\n${this.#programs.logs()}`,
      );
    return stdout;
  }

  #run([program = '', ...args]: readonly string[]) {
    return command(program, args, { env: cleanEnvironment });
  }

  #check(holds: boolean, sentence: string): void {
    if (!holds) throw new Error(`${this.#suite}: not so: ${sentence}`);
    console.log(`ok  ${this.#suite}: ${sentence}`);
  }
}
