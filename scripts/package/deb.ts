/**
 * Writes a Debian package with dpkg-deb. The same contents give the same bytes: owners are root, times and modes fixed,
 * files in order, one thread compresses.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { command } from '../setup/command.mjs';
import { Trouble, tail } from '../setup/trouble.mjs';
import type { Contents, Entry } from './contents.ts';
import { maintainerScripts } from './maintainer-scripts.ts';
import type { Edition } from './man.ts';
import type { Plan } from './plan.ts';
import { wrapped } from './text.ts';

export interface DebOptions {
  readonly plan: Plan;
  readonly edition: Edition;
  readonly contents: Contents;
  /** As Debian names it. */
  readonly architecture: string;
  /** Where the package is put. */
  readonly out: string;
}

/** Debian's name for an architecture of Node. @throws Trouble */
export function debianArchitecture(arch: string = process.arch): string {
  const name = { x64: 'amd64', arm64: 'arm64' }[arch];
  if (name !== undefined) return name;
  throw new Trouble(
    `cannot make packages for ${arch}`,
    'Node and the media worker are not built for it',
    'use a machine with x64 or arm64',
  );
}

/** @returns the file @throws Trouble */
export async function writeDeb({ plan, edition, contents, architecture, out }: DebOptions): Promise<string> {
  const file = join(out, `${plan.name}_${edition.version}_${architecture}.deb`);
  const tree = `${file}.tree`;
  await rm(tree, { recursive: true, force: true });
  try {
    const folders = new Set<string>();
    for (const entry of [...contents.entries, ...controlEntries(plan, edition, contents, architecture)])
      await put(tree, entry, edition.epoch, folders);
    for (const folder of [...folders].sort().reverse()) await settle(folder, 0o755, edition.epoch);
    const { code, output } = await command(
      'dpkg-deb',
      ['--root-owner-group', '-Zzstd', '-z6', '--threads-max=1', '--build', tree, file],
      { env: { ...process.env, SOURCE_DATE_EPOCH: String(edition.epoch) } },
    );
    if (code !== 0)
      throw new Trouble(
        `cannot write ${file}`,
        tail(output),
        'free disk space; it needs dpkg-deb 1.21.18 or later',
      );
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
  return file;
}

async function put(tree: string, entry: Entry, epoch: number, folders: Set<string>): Promise<void> {
  const target = join(tree, entry.path);
  await mkdir(dirname(target), { recursive: true });
  for (
    let folder = dirname(target);
    folder.startsWith(tree) && !folders.has(folder);
    folder = dirname(folder)
  )
    folders.add(folder);
  if (typeof entry.content === 'object' && 'file' in entry.content)
    await copyFile(entry.content.file, target);
  else await writeFile(target, entry.content);
  await settle(target, entry.mode, epoch);
}

async function settle(path: string, mode: number, epoch: number): Promise<void> {
  await chmod(path, mode);
  await utimes(path, epoch, epoch);
}

/** The files of DEBIAN/. */
function controlEntries(
  plan: Plan,
  edition: Edition,
  { entries }: Contents,
  architecture: string,
): readonly Entry[] {
  const conffiles = entries.filter(({ path }) => path.startsWith('/etc/')).map(({ path }) => path);
  const contents = entries.map((entry) => ({ path: entry.path, bytes: bytesOf(entry) }));
  const sums = contents
    .filter(({ path }) => !conffiles.includes(path))
    .map(({ path, bytes }) => `${createHash('md5').update(bytes).digest('hex')}  ${path.slice(1)}\n`);
  const size = contents.reduce((sum, { bytes }) => sum + Math.ceil(bytes.length / 1024), 0);
  const glibc = newestGlibc(contents.map(({ bytes }) => bytes).filter(isElf));
  const fields = controlFields(plan, edition.version, architecture, size, glibc);
  const text = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
  const entry = (name: string, content: string, mode: number): Entry => ({
    path: `/DEBIAN/${name}`,
    content,
    mode,
  });
  return [
    entry('control', text.join(''), 0o644),
    entry('conffiles', conffiles.map((path) => `${path}\n`).join(''), 0o644),
    entry('md5sums', sums.join(''), 0o644),
    ...Object.entries(maintainerScripts(plan)).map(([name, script]) => entry(name, script, 0o755)),
  ];
}

export function controlFields(
  plan: Plan,
  version: string,
  architecture: string,
  size: number,
  glibc: string,
): Readonly<Record<string, string>> {
  const { name, summary, description, depends, recommends, suggests } = plan;
  return {
    Package: name,
    Version: version,
    Architecture: architecture,
    Maintainer: 'Trunkline <root@localhost>',
    'Installed-Size': String(size),
    Depends: [...depends, `libc6 (>= ${glibc})`].sort().join(', '),
    ...(recommends.length > 0 && { Recommends: recommends.join(', ') }),
    ...(suggests.length > 0 && { Suggests: suggests.join(', ') }),
    Section: 'net',
    Priority: 'optional',
    Description: `${summary}\n${wrapped(description, 78, ' ')}`,
  };
}

function bytesOf({ content }: Entry): Buffer {
  if (typeof content === 'string') return Buffer.from(content);
  return 'file' in content ? readFileSync(content.file) : content;
}

const isElf = (bytes: Buffer) => bytes.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1'));

/** The newest version of the C library that a program or library names: it runs with no older one. */
export function newestGlibc(binaries: readonly Buffer[]): string {
  let newest = 0;
  for (const bytes of binaries)
    for (let at = bytes.indexOf('GLIBC_2.'); at >= 0; at = bytes.indexOf('GLIBC_2.', at + 1))
      newest = Math.max(newest, Number(/^\d+/.exec(bytes.toString('latin1', at + 8, at + 12))?.[0] ?? 0));
  return `2.${newest}`;
}
