/** The machine that is checked, and the settings of its programs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import type { ControlConfig } from '../../control/settings/index.ts';
import type { EdgeSettings } from '../../edge/config.ts';
import type { Dns } from '../../edge/trunks/dns.ts';
import { readEnvironmentFile } from '../command/environment-file.ts';
import { dataFolder } from '../supervisor/bootstrap.ts';
import { reasonOf } from './check.ts';
import { type KernelClock, kernelClock } from './kernel-clock.ts';
import type { Parts } from './parts.ts';

export type Program = 'edge' | 'control';

/** Settings, or why they cannot be used. */
export type Read<Settings> = { readonly settings: Settings } | { readonly reason: string };

export interface Place {
  /** The programs of this machine. */
  readonly scope: ReadonlySet<Program>;
  readonly edge: Read<EdgeSettings>;
  readonly control: Read<ControlConfig>;
  /** An API key, for what only the API knows. */
  readonly apiKey: string | null;
  /** Where Linux shows its state. */
  readonly proc: string;
  readonly dns: Pick<Dns, 'a' | 'aaaa' | 'srv'>;
  readonly now: () => number;
  readonly kernelClock: () => KernelClock;
  /** The output of a program, or why there is none. */
  readonly runTool: (program: string, args: readonly string[]) => Promise<Output>;
}

export type Output = { readonly output: string } | { readonly reason: string };

export interface PlaceOptions {
  /** Empty: those whose files are in the data folder. */
  readonly programs: readonly Program[];
  /** Folder of `edge.env` and `control.env`, which count before the environment; null: none. */
  readonly settingsFolder: string | null;
  readonly apiKey: string | null;
}

/** Only the edge asks name servers itself. */
const noDns: Place['dns'] = {
  a: async () => ({ records: [], ttlS: null }),
  aaaa: async () => ({ records: [], ttlS: null }),
  srv: async () => ({ records: [], ttlS: null }),
};

const edgeFiles = ['edge-id', 'edge-config.json', 'edge-secret.key', 'outbox'];
const controlFiles = ['control.db', 'control.lock', 'bootstrap.json', 'secret.key'];

export function placeOf(
  { programs, settingsFolder, apiKey }: PlaceOptions,
  { edge, control }: Parts,
  env: NodeJS.ProcessEnv,
): Omit<Place, 'runTool'> {
  const envOf = (program: Program) => ({ ...env, ...fileSettings(settingsFolder, program) });
  return {
    scope: new Set(programs.length > 0 ? programs : programsOf(envOf)),
    edge: read(edge && (() => edge.readSettings(envOf('edge')))),
    control: read(control && (() => control.readSettings(envOf('control')))),
    apiKey,
    proc: '/proc',
    dns: edge?.dns ?? noDns,
    now: Date.now,
    kernelClock,
  };
}

function fileSettings(folder: string | null, program: Program): Readonly<Record<string, string>> {
  if (folder === null) return {};
  const file = join(folder, `${program}.env`);
  return pathExists(file) ? readEnvironmentFile(readFileSync(file, 'utf8')) : {};
}

/** Those whose files are in their data folders; both before a first start. */
function programsOf(envOf: (program: Program) => NodeJS.ProcessEnv): Program[] {
  const here = (program: Program, files: readonly string[]) => {
    const folder = dataFolder(envOf(program));
    return pathExists(folder) && readdirSync(folder).some((name) => files.includes(name));
  };
  const found: Program[] = [];
  if (here('edge', edgeFiles)) found.push('edge');
  if (here('control', controlFiles) || envOf('control').DATABASE_URL) found.push('control');
  return found.length > 0 ? found : ['edge', 'control'];
}

/** @param settings null: the code of that program is not on this machine */
function read<Settings>(settings: (() => Settings) | null): Read<Settings> {
  if (!settings) return { reason: 'it is not installed here' };
  try {
    return { settings: settings() };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** Whether control is on this machine and has not been started: it then makes what the edge waits for. */
export function awaitsFirstStart({ scope }: Pick<Place, 'scope'>, dataFolder: string): boolean {
  return scope.has('control') && !pathExists(join(dataFolder, 'bootstrap.json'));
}

/** The text of a file of /proc; null: this system has none. */
export function kernelText({ proc }: Pick<Place, 'proc'>, file: string): string | null {
  try {
    return readFileSync(join(proc, file), 'utf8').trim();
  } catch {
    return null;
  }
}

/** The number in a file of /proc; null: this system has none. */
export function kernelNumber(place: Pick<Place, 'proc'>, file: string): number | null {
  const text = kernelText(place, file);
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
