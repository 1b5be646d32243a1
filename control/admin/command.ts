/** The parts of every command of `trunkline admin`. */
import { Value } from 'typebox/value';
import { Line } from '#shared/api/common.ts';
import type { Clock } from '#shared/clock.ts';
import type { Catalogue } from '../catalogue/index.ts';
import type { Database, SecretBox } from '../db/index.ts';
import type { Bus } from '../replicas/index.ts';
import type { ControlConfig } from '../settings/index.ts';

/** A command that cannot be run; the message says why and what to do. */
export class UsageError extends Error {}

export interface Tools {
  readonly config: Pick<ControlConfig, 'region' | 'sipEntitlementDefault' | 'callLimits'>;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  /** For changes that others follow; the first use loads them. */
  catalogue(): Promise<Catalogue>;
  readonly database: Database;
  /** To running control planes. */
  readonly bus: Bus;
}

/** The options of all commands, for node:util parseArgs. */
export const optionKinds = {
  name: { type: 'string' },
  operator: { type: 'boolean' },
  edge: { type: 'boolean' },
  sip: { type: 'boolean' },
  email: { type: 'string', multiple: true },
  sms: { type: 'string', multiple: true },
  region: { type: 'string' },
  role: { type: 'string' },
  weight: { type: 'string' },
  concurrent: { type: 'string' },
  'per-minute': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export interface Options {
  readonly name?: string;
  readonly operator?: boolean;
  readonly edge?: boolean;
  readonly sip?: boolean;
  readonly email?: readonly string[];
  readonly sms?: readonly string[];
  readonly region?: string;
  readonly role?: string;
  readonly weight?: string;
  readonly concurrent?: string;
  readonly 'per-minute'?: string;
}

/** A command's output: text, or table rows. */
export type Output = string | readonly Readonly<Record<string, unknown>>[];

export interface Command {
  /** The argument after the command's name; empty: none. */
  readonly takes: string;
  /** One line, and lines about its options. */
  readonly help: string;
  /** The options that it takes; others are rejected. */
  readonly options: readonly (keyof Options)[];
  /** Whether it may be a deployment's first command: it creates data folder, database and key when missing. */
  readonly first?: true;
  /** Whether it removes something that other areas keep rows about. */
  readonly removes?: true;
  /** @param subject argument after the command, such as an id */
  run(tools: Tools, subject: string | undefined, options: Options): Promise<Output>;
}

/** @throws UsageError */
export function required(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new UsageError(`The ${what} is missing.`);
  return value;
}

/** Same limit as for names in the API. */
const Name = Line(1, 200);

/** A name shown in lists and logs. @throws UsageError */
export function checkedName(text: string | undefined, what: string): string {
  const name = required(text?.trim(), what);
  if (Value.Check(Name, name)) return name;
  throw new UsageError(`The ${what} must be one line of at most 200 characters.`);
}
