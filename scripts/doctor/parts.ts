/** The parts of the doctor, one for each program; an installed package has that of its own program alone. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pathExists } from '#shared/path-exists.ts';
import type { ControlConfig } from '../../control/settings/index.ts';
import type { EdgeSettings } from '../../edge/config.ts';
import type { Dns } from '../../edge/trunks/dns.ts';
import type { Check } from './check.ts';

export interface EdgePart {
  readonly readSettings: (env: NodeJS.ProcessEnv) => EdgeSettings;
  readonly dns: Pick<Dns, 'a' | 'aaaa' | 'srv'>;
  readonly checks: readonly Check[];
}

export interface ControlPart {
  readonly readSettings: (env: NodeJS.ProcessEnv) => ControlConfig;
  readonly checks: readonly Check[];
}

/** null: this machine does not have the code of that program. */
export interface Parts {
  readonly edge: EdgePart | null;
  readonly control: ControlPart | null;
}

export async function loadParts(): Promise<Parts> {
  return {
    edge: (await load<EdgePart>('edge')) ?? null,
    control: (await load<ControlPart>('control')) ?? null,
  };
}

async function load<Part>(name: keyof Parts): Promise<Part | undefined> {
  if (!pathExists(join(import.meta.dirname, '..', '..', name, 'main.ts'))) return undefined;
  // Not an import that a package follows.
  const file = pathToFileURL(join(import.meta.dirname, `${name}-part.ts`)).href;
  return ((await import(file)) as { part: Part }).part;
}
