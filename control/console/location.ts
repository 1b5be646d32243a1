/**
 * Where the built console is. It is built once per machine at set-up and shared by all checkouts: the name of its folder
 * has the hash of everything that it is made of, so any change leads to a new build.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';

const root = dirname(dirname(import.meta.dirname));

/** The packages that are in the console or build it, with the versions that are installed. */
const packages = [
  'vite',
  'preact',
  '@preact/signals',
  '@preact/signals-core',
  'uplot',
  'sip.js',
  '@dagrejs/dagre',
  '@dagrejs/graphlib',
  'd3-sankey',
];

/** What the console is made of besides its own folder; a test follows its imports. */
export const otherFiles = [
  'clients/typescript/src/errors.ts',
  'clients/typescript/src/event-blocks.ts',
  'clients/typescript/src/url.ts',
  'docs/errors.md',
  'shared/agent/built-in-names.ts',
  'shared/agent/global-config.ts',
  'shared/agent/graph-node.ts',
  'shared/agent/graph-problem.ts',
  'shared/agent/graph-warnings.ts',
  'shared/agent/graph.ts',
  'shared/agent/template.ts',
  'shared/agent/transfer-node.ts',
  'shared/agent/transfer-pathway.ts',
  'shared/agent/turn-plan.ts',
  'shared/console-paths.ts',
  'shared/counted.ts',
  'shared/pbx/asterisk.ts',
  'shared/pbx/audiocodes.ts',
  'shared/pbx/baresip.ts',
  'shared/pbx/cube.ts',
  'shared/pbx/facts.ts',
  'shared/pbx/freeswitch.ts',
  'shared/pbx/kamailio.ts',
  'shared/pbx/opensips.ts',
  'shared/pbx/ribbon.ts',
  'shared/pbx/text.ts',
  'shared/pbx/three-cx.ts',
  'shared/pbx/web-pages.ts',
  'shared/pronunciation-sizes.ts',
  'shared/termination.ts',
];

export interface ConsoleLocation {
  readonly folder: string;
  /** Written last, so it is there only when everything else is. */
  readonly mark: string;
}

/** In an installed package, which has it built. */
const packaged = join(root, 'built', 'console');

/** `$TRUNKLINE_CACHE`, else `$XDG_CACHE_HOME/trunkline`, else `~/.cache/trunkline`: as for the media worker. */
export function consoleLocation(env: NodeJS.ProcessEnv): ConsoleLocation {
  if (pathExists(packaged)) return { folder: packaged, mark: join(packaged, 'built.json') };
  const cache = env.TRUNKLINE_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'trunkline');
  const folder = join(cache, `console-${sourceHash()}`);
  return { folder, mark: join(folder, 'built.json') };
}

/** First 12 hex digits of a SHA-256 over the names and contents of all sources. */
function sourceHash(): string {
  const hash = createHash('sha256');
  const own = readdirSync(join(root, 'console'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  const sources = [...own.sort(), ...otherFiles].map((file) => [file, join(root, file)] as const);
  for (const [name, file] of [...sources, ...packages.map((name) => [name, manifestOf(name)] as const)]) {
    const content = readFileSync(file);
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 12);
}

/** Found as an import is found: a package need not be in this folder's own node_modules. @throws Error it is missing */
function manifestOf(name: string): string {
  const found = findPackageJSON(name, import.meta.url);
  if (found === undefined) throw new Error(`the package ${name} is not installed`);
  return found;
}
