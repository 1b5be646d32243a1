/** The machine that is checked, and the settings of its programs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import type { ControlConfig } from '../../control/settings/index.ts';
import type { EdgeSettings } from '../../edge/config.ts';
import type { Dns } from '../../edge/trunks/dns.ts';
import type { KernelClock } from './kernel-clock.ts';

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
