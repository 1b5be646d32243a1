/**
 * Downloads from the Debian archive without touching the system's apt: uses a private apt state with the machine's
 * mirror. apt verifies signatures and hashes as usual.
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
  /** empty or missing folder for the private apt state and the downloads */
  readonly folder: string;
  readonly kind: 'deb' | 'deb-src';
  /** release, for example `bookworm`; absent: the machine's own */
  readonly suite?: string;
  /** what the files are for: starts the sentence of an error */
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
    // Run by root, apt would switch to the user _apt, who cannot write here.
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
 * The main archive's mirror in the machine's configuration, in one-line or deb822 format. apt lists it only when it has
 * package lists, which a fresh container lacks.
 */
export async function machineMirror(): Promise<string> {
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
