/** One Debian root from an installation to a purge, step by step; each step prints one line, the first failing one ends it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { command } from '../../scripts/setup/command.mjs';
import { tail } from '../../scripts/setup/trouble.mjs';
import { promptedBlocks, type ShownCommand } from '../kit/shown-commands.ts';
import { Administrator } from './administrator.ts';
import { Deployment } from './deployment.ts';
import { firstCall } from './guides.ts';
import { cleanEnvironment, type Machine } from './machine.ts';
import { walkPbxs } from './pbxs.ts';

export interface Packages {
  /** Files of an earlier version, and of this one. */
  readonly earlier: readonly string[];
  readonly now: readonly string[];
}

const page = 'packages.md';

/** Commands of docs/operations.md, which shows those of a checkout, as its first lines have a reader with packages type them. */
const ofOperations = (section: string): readonly ShownCommand[] =>
  promptedBlocks('operations.md', section)
    .flat()
    .map(({ line, output }) => ({
      line: line.replace(/npm run (\w+)(?: --)?/, 'trunkline $1'),
      output: output.map((one) => one.replaceAll('/srv/trunkline/data', '/var/lib/trunkline')),
    }));

export class Walk {
  readonly #work: string;
  readonly #packages: Packages;
  readonly #deployment: Deployment;
  readonly #machine: Machine;
  readonly #administrator: Administrator;

  /** @param work where roots are made: its own is there, with the name of the suite */
  constructor(work: string, suite: string, packages: Packages) {
    this.#work = work;
    this.#packages = packages;
    this.#deployment = new Deployment(join(work, suite), suite);
    this.#machine = this.#deployment.machine;
    this.#administrator = new Administrator(this.#deployment);
  }

  async all(): Promise<void> {
    await this.#machine.prepare();
    await this.#install();
    await this.#manual();
    await firstCall(this.#deployment);
    await walkPbxs(this.#deployment, this.#administrator, this.#work);
    await this.#pages();
    await this.#commands();
    await this.#upgrade();
    await this.#wayBack();
    await this.#machine.install(this.#packages.now);
    await this.#remove();
    await this.#purge();
    await this.#anotherMachine();
  }

  end(): Promise<void> {
    return this.#deployment.end();
  }

  /** As docs/packages.md says it, whose first version is the earlier one here, and its second this one. */
  async #install(): Promise<void> {
    // By the names of the page: apt looks into a file, not at its name.
    for (const [files, version] of [
      [this.#packages.earlier, '0.1.0'],
      [this.#packages.now, '0.2.0'],
    ] as const)
      for (const file of files) {
        const [name] = basename(file).split('_');
        await copyFile(file, this.#machine.path(`root/${name}_${version}_amd64.deb`));
      }
    const [[install, ...rest] = []] = promptedBlocks(page, 'Install');
    if (install) await this.#administrator.types(page, [install]);
    const version = (await this.#machine.chroot('trunkline', ['--version'])).trim();
    this.#machine.check(version === 'trunkline 0.0.1', `an earlier version is installed (${version})`);
    const owners = await this.#machine.chroot('stat', [
      '-c',
      '%U:%G %a %n',
      '/etc/trunkline',
      '/etc/trunkline/control.env',
      '/etc/trunkline/edge.env',
      '/var/lib/trunkline',
    ]);
    this.#machine.check(
      owners.trim() ===
        'root:trunkline 750 /etc/trunkline\nroot:trunkline 640 /etc/trunkline/control.env\nroot:trunkline 640 /etc/trunkline/edge.env\ntrunkline:trunkline 700 /var/lib/trunkline',
      'settings and data have their owners',
      owners,
    );
    // With systemd the installation does.
    await this.#deployment.startBoth();
    await this.#administrator.types(page, rest);
  }

  async #manual(): Promise<void> {
    const sums = await this.#machine.chroot('dpkg', ['--verify', 'trunkline-control', 'trunkline-edge']);
    this.#machine.check(sums.trim() === '', 'dpkg --verify finds every file as in the packages', sums);
    for (const manual of [
      'usr/share/man/man8/trunkline-control.8.gz',
      'usr/share/man/man8/trunkline-edge.8.gz',
      'usr/lib/trunkline-control/share/trunkline.1.gz',
    ]) {
      const file = this.#machine.path(manual);
      const { output } = await command('sh', ['-c', 'zcat "$1" | groff -man -Tutf8 -ww -z', 'sh', file]);
      this.#machine.check(output === '', `${basename(manual)} is a manual page without warnings`, output);
    }
  }

  async #pages(): Promise<void> {
    for (const path of ['/', '/docs', '/docs/packages', '/openapi.json']) {
      const script = `const { status } = await fetch('http://127.0.0.1:8080${path}'); console.log(status);`;
      const status = (await this.#deployment.node('control', script)).trim();
      this.#machine.check(status === '200', `GET ${path} is ${status}`);
    }
  }

  async #commands(): Promise<void> {
    await this.#administrator.types(page, promptedBlocks(page, 'The command trunkline').flat());
    const organizations = JSON.parse(
      await this.#deployment.trunkline(['admin', 'org', 'list', '--json']),
    ) as unknown[];
    this.#machine.check(organizations.length === 1, 'trunkline admin opens the data of the service');
    const backup = JSON.parse(await this.#deployment.trunkline(['backup', '--json'])) as { folder: string };
    const owner = await this.#machine.chroot('stat', ['-c', '%U', backup.folder]);
    this.#machine.check(
      owner.trim() === 'trunkline',
      `trunkline backup makes ${backup.folder}, which belongs to the service`,
    );
    const unknown = await this.#machine.run(this.#machine.argvOf('trunkline', ['bakup']));
    this.#machine.check(
      unknown.code === 1 && unknown.output.includes('"backup"'),
      'an unknown command names the nearest one',
    );
  }

  /** As an upgrade stops an edge that has a call: a side of the call ends it, not the edge. */
  async #stopDuringCall(): Promise<void> {
    const [program = '', ...args] = this.#machine.argvOf('trunkline', ['call']);
    const child = spawn(program, args, { env: { ...cleanEnvironment }, stdio: ['ignore', 'pipe', 'pipe'] });
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
    await this.#deployment.stop('edge');
    await ended;
    // The edge ends what is left with another code.
    const holds = isUp && /"termination": "(?:agent|caller)_hangup"/.test(said);
    this.#machine.check(
      holds,
      'a call that is up goes on after the order to stop, until a side hangs up',
      tail(said, 60),
    );
    await this.#deployment.stop('control');
  }

  /** As docs/packages.md says it: a backup, the upgrade, and once more an edge alone, which is drained first. */
  async #upgrade(): Promise<void> {
    const [lines = [], drained = []] = promptedBlocks(page, 'Upgrade');
    await this.#administrator.types(page, lines.slice(0, -1));
    await this.#administrator.types('operations.md', ofOperations('Backup'));
    // What the packages do before their files are replaced.
    await this.#stopDuringCall();
    const before = await this.#deployment.calls();
    await this.#administrator.types(page, lines.slice(-1));
    const version = (await this.#machine.chroot('trunkline', ['--version'])).trim();
    this.#machine.check(version !== 'trunkline 0.0.1', `the upgrade installs ${version}`);
    const settings = await readFile(this.#machine.path('etc/trunkline/edge.env'), 'utf8');
    this.#machine.check(
      settings.includes('RTP_PUBLIC_IP="198.51.100.7"'),
      'it keeps changed settings, and asks nothing',
    );
    await this.#deployment.startBoth();
    await this.#administrator.types(page, drained);
    await this.#deployment.isHealthy();
    const [drain, , undo] = drained;
    if (!(drain && undo)) throw new Error(`docs/${page} does not drain an edge`);
    await this.#administrator.restartsDrained(page, [drain, undo]);
    await this.#deployment.call();
    await this.#deployment.stopBoth();
    const after = await this.#deployment.calls();
    this.#machine.check(
      after === before + 1,
      `the call log has ${after} calls, ${before} of them from before`,
    );
  }

  /** As docs/packages.md says it, after an upgrade with a migration that the earlier version does not know. */
  async #wayBack(): Promise<void> {
    await this.#deployment.database(`
      database.prepare("insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01')").run();`);
    const [, , [downgrade, stop, restore, start] = []] = promptedBlocks(page, 'Upgrade');
    if (!(downgrade && stop && restore && start)) throw new Error(`docs/${page} shows no way back`);
    await this.#administrator.types(page, [downgrade]);
    const version = (await this.#machine.chroot('trunkline', ['--version'])).trim();
    this.#machine.check(version === 'trunkline 0.0.1', `the way back installs ${version}`);
    const { code, output } = await this.#deployment.programs.runToEnd('control');
    this.#machine.check(
      code === 1 && output.includes('9999-later') && output.includes('restore a backup'),
      'until the restore, control of the earlier version does not start, and says why',
      `${code}\n${tail(output)}`,
    );
    await this.#administrator.types(page, [stop, restore]);
    const before = await this.#deployment.calls();
    await this.#administrator.types(page, [start]);
    await this.#deployment.call();
    await this.#deployment.stopBoth();
    const after = await this.#deployment.calls();
    this.#machine.check(
      after === before + 1,
      `the call log has the ${before} of the backup and the one from after it`,
    );
  }

  async #remove(): Promise<void> {
    await this.#machine.chroot('apt-get', ['-q', '-y', 'remove', 'trunkline-control', 'trunkline-edge']);
    const there = (path: string) => existsSync(this.#machine.path(path));
    const left = [
      'usr/lib/trunkline-control',
      'usr/lib/trunkline-edge',
      'usr/bin/trunkline',
      'usr/lib/systemd/system/trunkline-edge.service',
    ].filter(there);
    this.#machine.check(
      left.length === 0,
      `a removal takes programs and command${left.length === 0 ? '' : `, but not ${left.join(', ')}`}`,
    );
    const kept = [
      'etc/trunkline/edge.env',
      'etc/trunkline/control.env',
      'var/lib/trunkline/control.db',
      'var/lib/trunkline/secret.key',
    ];
    this.#machine.check(kept.every(there), 'it keeps data, keys and settings');
  }

  async #purge(): Promise<void> {
    const there = (path: string) => existsSync(this.#machine.path(path));
    // Of an administrator: no package made it.
    await writeFile(this.#machine.path('etc/trunkline/server.key'), 'x');
    await this.#machine.chroot('apt-get', ['-q', '-y', 'purge', 'trunkline-control']);
    this.#machine.check(
      there('var/lib/trunkline/control.db') && !there('etc/trunkline/control.env'),
      'a purge of one package takes its settings, and leaves the data to the other',
    );
    await this.#machine.chroot('apt-get', ['-q', '-y', 'purge', 'trunkline-edge']);
    this.#machine.check(
      !there('var/lib/trunkline/control.db') &&
        !there('etc/trunkline/edge.env') &&
        there('var/lib/trunkline/backups') &&
        there('etc/trunkline/server.key'),
      'a purge of the last one takes the data; backups and files of an administrator stay',
    );
  }

  /** With nothing but a backup: before the first start of the new machine, and after it. */
  async #anotherMachine(): Promise<void> {
    await this.#machine.install(this.#packages.now);
    await this.#administrator.types('operations.md', ofOperations('Restore'));
    const before = await this.#deployment.calls();
    await this.#deployment.startBoth();
    await this.#deployment.call();
    const [lines = []] = promptedBlocks(page, 'Another machine');
    await this.#administrator.types(page, lines);
    await this.#deployment.call();
    await this.#deployment.stopBoth();
    const after = await this.#deployment.calls();
    this.#machine.check(
      before > 0 && after === before + 1,
      `a new machine has the ${before} calls of the backup, and one of its own`,
      String(after),
    );
  }
}
