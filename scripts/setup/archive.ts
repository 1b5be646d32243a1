/**
 * Files from the Debian archive without touching the system's own apt: a private apt state that asks the same
 * mirror as the machine. apt checks signatures and hashes as always.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from './command.mjs';
import { Trouble, tail } from './trouble.mjs';

const keyrings = [
  '/usr/share/keyrings/debian-archive-keyring.gpg',
  '/usr/share/keyrings/ubuntu-archive-keyring.gpg',
];

export interface ArchiveRequest {
  /** empty or missing folder for the private state and the downloads */
  readonly folder: string;
  readonly kind: 'deb' | 'deb-src';
  /** release to take from, for example `bookworm`; absent: the machine's own */
  readonly suite?: string;
  /** what the files are for: begins the sentence of a failure */
  readonly purpose: string;
}

/**
 * Downloads sources (`deb-src`) or packages (`deb`) into `folder`/files.
 *
 * @returns that folder
 * @throws Trouble
 */
export async function download(request: ArchiveRequest, packages: readonly string[]): Promise<string> {
  const { folder, kind, purpose } = request;
  const suite = request.suite ?? (await machineSuite());
  const mirror = await machineMirror();
  const files = join(folder, 'files');
  for (const part of ['lists/partial', 'cache/archives/partial', 'parts', 'files']) {
    await mkdir(join(folder, part), { recursive: true });
  }
  const keyring = keyrings.find((file) => existsSync(file));
  await writeFile(
    join(folder, 'sources.list'),
    `${kind} ${keyring ? `[signed-by=${keyring}] ` : ''}${mirror} ${suite} main\n`,
  );
  await writeFile(join(folder, 'status'), '');
  const settings = {
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': join(folder, 'parts'),
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': join(folder, 'cache'),
    // apt run by root would become the user _apt, who cannot write here.
    'APT::Sandbox::User': 'root',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const verb = kind === 'deb' ? ['download'] : ['source', '--download-only'];
  for (const step of [['update'], [...verb, ...packages]]) {
    const { code, output } = await command('apt-get', ['-q', ...options, ...step], { cwd: files });
    if (code === 0) continue;
    throw new Trouble(
      `cannot fetch ${packages[0]} from the Debian archive to ${purpose}`,
      `\`apt-get ${step[0]}\` on ${mirror} (${suite}) failed:\n${tail(output)}`,
      'check that the mirror in /etc/apt/sources.list can be reached, then start again',
    );
  }
  return files;
}

/** `VERSION_CODENAME` of /etc/os-release. */
async function machineSuite(): Promise<string> {
  const codename = /^VERSION_CODENAME=(\S+)/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1];
  return codename?.replaceAll('"', '') ?? 'stable';
}

/**
 * The mirror of the main archive in the machine's configuration, whichever form that has (one-line or deb822).
 * apt lists it only once it has package lists, which a fresh container lacks.
 */
async function machineMirror(): Promise<string> {
  const list = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages', 'Component: main'];
  let { stdout } = await command('apt-get', list);
  if (!stdout.trim()) {
    await command('apt-get', ['-q', 'update']);
    ({ stdout } = await command('apt-get', list));
  }
  const mirror = stdout.split('\n').find((uri) => /\/(debian|ubuntu)\/?$/.test(uri));
  if (mirror) return mirror;
  throw new Trouble(
    'cannot find the Debian mirror of this machine',
    `\`apt-get ${list.slice(0, 3).join(' ')}\` names no archive whose address ends with /debian/ or /ubuntu/`,
    'put a Debian or Ubuntu mirror into /etc/apt/sources.list and run `apt-get update`',
  );
}
