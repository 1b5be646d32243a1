/** Makes both packages, with SBOM and checksums beside them. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { counted } from '#shared/counted.ts';
import { consoleLocation } from '../../control/console/location.ts';
import { workerLocation } from '../../edge/media/worker/location.ts';
import { command } from '../setup/command.mjs';
import { nodePackage } from '../setup/packages.mjs';
import { setUp } from '../setup/steps.ts';
import { type Built, contentsOf } from './contents.ts';
import { debianArchitecture, writeDeb } from './deb.ts';
import type { Lock } from './dependencies.ts';
import type { Edition } from './man.ts';
import type { PackageOptions } from './options.ts';
import { homeOf, type Plan, plans } from './plan.ts';
import { type Binary, sbom } from './sbom.ts';

const root = dirname(dirname(import.meta.dirname));
/** 1980-01-01, for a tree without history: archives know no earlier time. */
const noTime = 315_532_800;

/** @returns the files that were made @throws Trouble */
export async function buildPackages(options: PackageOptions, env: NodeJS.ProcessEnv): Promise<string[]> {
  await setUp({ peers: false });
  const out = resolve(options.out);
  await mkdir(out, { recursive: true });
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const edition: Edition = { version: options.version ?? own.version, epoch: await sourceTime(env) };
  const made: string[] = [];
  for (const plan of plans) made.push(...(await buildOne(plan, edition, out, env)));
  const sums = await Promise.all(made.map(async (file) => `${await sha256(file)}  ${basename(file)}\n`));
  const list = join(out, 'SHA256SUMS');
  await writeFile(list, sums.join(''));
  console.log(list);
  return [...made, list];
}

async function buildOne(
  plan: Plan,
  edition: Edition,
  out: string,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const architecture = debianArchitecture();
  const built: Built = {
    console: plan.program === 'control' ? consoleLocation(env).folder : null,
    worker: plan.program === 'edge' ? workerLocation(env) : null,
  };
  const contents = await contentsOf(root, plan, edition, built);
  const file = await writeDeb({ plan, edition, contents, architecture, out });
  const list = `${file.slice(0, -'.deb'.length)}.cdx.json`;
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const binaries = await binariesOf(lock, contents.entries, homeOf(plan));
  const direct = contents.direct.map((name) => `node_modules/${name}`);
  const { dependencies } = contents;
  await writeFile(list, sbom({ plan, edition, architecture, lock, dependencies, direct, binaries }));
  const megabytes = ((await stat(file)).size / 1e6).toFixed(1);
  console.log(
    `${file}: ${megabytes} MB, ${counted(contents.entries.length, 'file')}, ${counted(dependencies.size, 'npm package')}`,
  );
  return [file, list];
}

async function binariesOf(
  lock: Lock,
  entries: Awaited<ReturnType<typeof contentsOf>>['entries'],
  home: string,
): Promise<Binary[]> {
  const known = [
    { path: `${home}/bin/node`, name: 'node', locked: nodePackage, licence: 'MIT and others' },
    {
      path: `${home}/built/worker/mediasoup-worker`,
      name: 'mediasoup-worker',
      locked: 'mediasoup',
      licence: 'ISC',
    },
  ];
  const found: Binary[] = [];
  for (const { path, name, locked, licence } of known) {
    const content = entries.find((entry) => entry.path === path)?.content;
    if (content === undefined || typeof content === 'string' || !('file' in content)) continue;
    const version = lock.packages[`node_modules/${locked}`]?.version ?? '';
    found.push({ name, version, licence, sha256: await sha256(content.file) });
  }
  return found;
}

/** Seconds since 1970. */
export async function sourceTime(env: NodeJS.ProcessEnv): Promise<number> {
  const given = Number(env.SOURCE_DATE_EPOCH);
  if (Number.isInteger(given) && given > 0) return given;
  const { code, stdout } = await command('git', ['-C', root, 'log', '-1', '--format=%ct']);
  return code === 0 ? Number(stdout.trim()) : noTime;
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
