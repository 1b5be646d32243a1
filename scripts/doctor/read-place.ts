/** Reads what the doctor's checks look at: this machine, and the settings of its programs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import { readEnvironmentFile } from '../command/environment-file.ts';
import { dataFolder } from '../supervisor/bootstrap.ts';
import { kernelClock } from './kernel-clock.ts';
import type { Parts } from './parts.ts';
import type { Place, Program, Read } from './place.ts';
import { reasonOf } from './reason.ts';

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

export function readPlace(
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
