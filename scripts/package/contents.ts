/** Everything that is in a package, by the path at which it is installed. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bashCompletion } from '../command/completion.ts';
import type { Installation } from '../command/installation.ts';
import { nodePackage } from '../setup/packages.mjs';
import { filesOf, installedIn, type Lock, missingFiles, packagesFor } from './dependencies.ts';
import { commandPage, type Edition, programPage } from './man.ts';
import { loadedFrom } from './modules.ts';
import { dataFolder, homeOf, type Plan, settingsFileOf, user } from './plan.ts';
import { settingsFile } from './settings-files.ts';
import { packagedUnit } from './units.ts';

export interface Entry {
  /** Where it is installed. */
  readonly path: string;
  /** Its content, or the file that has it. */
  readonly content: string | Buffer | { readonly file: string };
  readonly mode: number;
}

export interface Built {
  /** Folder of the console's files; null: they are not in this package. */
  readonly console: string | null;
  /** The media worker and its mark; null: they are not in this package. */
  readonly worker: { readonly binary: string; readonly mark: string } | null;
}

export interface Contents {
  /** Sorted by path. */
  readonly entries: readonly Entry[];
  /** Paths of the npm packages in it, and which needs which. */
  readonly dependencies: ReadonlyMap<string, readonly string[]>;
  /** Names of those that the programs import themselves. */
  readonly direct: readonly string[];
}

export async function contentsOf(
  root: string,
  plan: Plan,
  edition: Edition,
  built: Built,
): Promise<Contents> {
  const home = homeOf(plan);
  const { files, packages } = loadedFrom(root, plan.entries);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const dependencies = packagesFor(lock, packages, installedIn(root));
  const own = [...files, ...plan.data.flatMap((path) => filesAt(root, path))];
  const modules = [...dependencies.keys()].flatMap((path) => filesOf(root, path));
  const missing = missingFiles(root, modules);
  if (missing.length > 0) throw new Error(`left out of ${plan.name} by mistake: ${missing.join(', ')}`);
  const entries: Entry[] = [
    ...[...own, ...modules].map((file) => copied(`${home}/${file}`, join(root, file))),
    ...(await madeFiles(root, plan, edition, dependencies, lock)),
    ...builtFiles(home, edition, built),
    { ...copied(`${home}/bin/node`, join(root, 'node_modules', nodePackage, 'bin', 'node')), mode: 0o755 },
  ];
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { entries, dependencies, direct: packages };
}

/** Made from the tables. */
async function madeFiles(
  root: string,
  plan: Plan,
  edition: Edition,
  dependencies: ReadonlyMap<string, readonly string[]>,
  lock: Lock,
): Promise<Entry[]> {
  const { name, program, commands } = plan;
  const home = homeOf(plan);
  const unit = readFileSync(join(root, 'deploy', `${name}.service`), 'utf8');
  const settings = settingsFileOf(plan);
  const installed: Installation = { program, settings, data: dataFolder, user };
  return [
    made(`${home}/package.json`, json(manifest(root, edition))),
    made(`${home}/installed.json`, json(installed)),
    made(
      `${home}/bin/trunkline`,
      `#!/bin/sh\nexec ${home}/bin/node --disable-warning=ExperimentalWarning ${home}/scripts/trunkline.ts "$@"\n`,
      0o755,
    ),
    made(`${home}/share/trunkline.bash`, await bashCompletion(commands)),
    made(`${home}/share/trunkline.1.gz`, gzipSync(await commandPage(commands, edition), { level: 9 })),
    made(`/usr/share/man/man8/${name}.8.gz`, gzipSync(programPage(plan, edition), { level: 9 })),
    made(`/usr/lib/systemd/system/${name}.service`, packagedUnit(unit, plan)),
    made(settings, settingsFile(program), 0o640),
    made(
      `/usr/share/doc/${name}/changelog.gz`,
      gzipSync(readFileSync(join(root, 'CHANGELOG.md')), { level: 9 }),
    ),
    made(`/usr/share/doc/${name}/copyright`, copyright(dependencies, lock)),
  ];
}

/** The parts of package.json that the programs read: version, and what `#shared/` means. */
function manifest(root: string, { version }: Edition): object {
  const { name, type, imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  return { name, version, private: true, type, imports };
}

function builtFiles(home: string, { epoch }: Edition, { console, worker }: Built): Entry[] {
  // When it was built differs from one build to the next.
  const builtAt = new Date(epoch * 1000).toISOString();
  const page = console === null ? [] : filesBelow(console, '.').filter((file) => file !== 'built.json');
  return [
    ...page.map((file) => copied(`${home}/built/console/${file}`, join(console ?? '', file))),
    ...(console === null ? [] : [made(`${home}/built/console/built.json`, json({ builtAt }))]),
    ...(worker === null
      ? []
      : [
          { ...copied(`${home}/built/worker/mediasoup-worker`, worker.binary), mode: 0o755 },
          made(
            `${home}/built/worker/mediasoup-worker.json`,
            json({ ...(JSON.parse(readFileSync(worker.mark, 'utf8')) as object), builtAt }),
          ),
        ]),
  ];
}

function copyright(dependencies: ReadonlyMap<string, readonly string[]>, lock: Lock): string {
  const lines = [...dependencies.keys()].map((path) => {
    const { version, license = 'see its files' } = lock.packages[path] ?? {};
    return `  ${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}: ${license}`;
  });
  return `Trunkline is not licensed for distribution.

It comes with Node.js (MIT and others) and these npm packages, whose licences are in their folders:

${lines.join('\n')}

The media worker is that of mediasoup (ISC), with libsrtp (BSD-3-Clause).
`;
}

/** A file, all files of a folder, or none: what is not there yet is not read either. */
function filesAt(root: string, path: string): string[] {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found) return [];
  return found.isDirectory() ? filesBelow(root, path) : [path];
}

/** Without tests, sorted. */
function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
const made = (path: string, content: string | Buffer, mode = 0o644): Entry => ({ path, content, mode });
const copied = (path: string, file: string): Entry => ({ path, content: { file }, mode: 0o644 });
