/**
 * The commands of `trunkline`. Help, bash completion and the man page are made from this table, and the packages take
 * from it which programs they need. A new command is a row here and a program that reads `process.argv.slice(2)`.
 */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The packages that have a command. */
export type PackageName = 'control' | 'edge';

export interface CommandRow {
  readonly name: string;
  /** What stands after the name; empty: nothing has to. */
  readonly takes: string;
  /** One line, as the help shows it. */
  readonly help: string;
  /** The program, by its path in the project. */
  readonly file: string;
  /** What the program loads of its own accord, by package: no import that a package follows. */
  readonly parts?: Readonly<Record<PackageName, string>>;
  readonly packages: readonly PackageName[];
  /**
   * As whom an installed package runs it: `owner` of the data folder, which it opens; or `caller`, for a command that
   * reads no more than what its caller may read.
   */
  readonly as: 'owner' | 'caller';
  /** All options, without `--help`. One that answers data has `json`. */
  readonly options: readonly string[];
  /** Words after the name, such as "org create", for the completion and the man page. */
  readonly phrases?: () => Promise<readonly Phrase[]>;
}

export interface Phrase {
  readonly text: string;
  readonly takes: string;
  /** One line, and lines about its options. */
  readonly help: string;
}

export const commandTable: readonly CommandRow[] = [
  {
    name: 'admin',
    takes: '<area> <command>',
    help: 'organizations, keys, permissions, edges and proxies',
    file: 'control/admin.ts',
    packages: ['control'],
    as: 'owner',
    options: [
      'name',
      'operator',
      'edge',
      'sip',
      'email',
      'sms',
      'region',
      'role',
      'weight',
      'concurrent',
      'per-minute',
      'json',
    ],
    phrases: adminPhrases,
  },
  {
    name: 'call',
    takes: '[number]',
    help: 'places a call over TLS and SRTP to the running edge, and shows its record',
    file: 'scripts/call.ts',
    packages: ['control', 'edge'],
    as: 'caller',
    options: ['json'],
  },
  {
    name: 'agent-test',
    takes: '--pathway <id>',
    help: 'runs the test scenarios of a pathway or persona, for people and for CI',
    file: 'scripts/agent-test.ts',
    packages: ['control', 'edge'],
    as: 'caller',
    options: [
      'pathway',
      'persona',
      'version',
      'scenario',
      'seed',
      'wait',
      'junit',
      'timeout',
      'repeats',
      'fail-under',
      'annotations',
      'concurrency',
      'ramp',
      'level-runs',
      'level-seconds',
      'number',
      'text',
      'url',
      'key-file',
      'json',
    ],
  },
  {
    name: 'doctor',
    takes: '[edge] [control]',
    help: 'checks this machine and the settings of its programs, and says what to do',
    file: 'scripts/doctor.ts',
    parts: { control: 'scripts/doctor/control-part.ts', edge: 'scripts/doctor/edge-part.ts' },
    packages: ['control', 'edge'],
    as: 'owner',
    options: ['json', 'settings', 'key-file'],
  },
  {
    name: 'mcp',
    takes: '',
    help: 'serves tools for an assistant over stdin and stdout (Model Context Protocol)',
    file: 'scripts/mcp.ts',
    packages: ['control', 'edge'],
    as: 'caller',
    options: ['allow-writes', 'url', 'key-file'],
  },
  {
    name: 'drain',
    takes: '[--wait <seconds>]',
    help: 'takes the edge of this machine out of service, and waits for its calls',
    file: 'scripts/drain.ts',
    packages: ['control', 'edge'],
    as: 'owner',
    options: ['undo', 'wait', 'url', 'key-file', 'json'],
  },
  {
    name: 'backup',
    takes: '[folder]',
    help: 'makes a verified backup of the control plane, running or not',
    file: 'control/backup.ts',
    packages: ['control'],
    as: 'owner',
    options: ['without-recordings', 'json'],
  },
  {
    name: 'restore',
    takes: '<folder>',
    help: 'puts a backup into the data folder of a stopped control plane',
    file: 'control/restore.ts',
    packages: ['control'],
    as: 'owner',
    options: ['force', 'json'],
  },
  {
    name: 'migrate-database',
    takes: '--to <url>',
    help: 'moves the data of a running control plane from SQLite to PostgreSQL',
    file: 'control/migrate-database.ts',
    packages: ['control'],
    as: 'owner',
    options: ['to', 'force', 'cancel', 'json'],
  },
  {
    name: 'seed-demo',
    takes: '',
    help: 'makes an organization with demo data; safe to run again',
    file: 'control/seed-demo.ts',
    packages: ['control'],
    as: 'owner',
    options: ['json'],
  },
];

/** Loaded only for help of its own: it brings most of the control plane. */
async function adminPhrases(): Promise<readonly Phrase[]> {
  // Not an import that a package follows: that of the edge has no such file.
  const file = pathToFileURL(join(import.meta.dirname, '..', '..', 'control', 'admin', 'index.ts')).href;
  const { allCommands } = (await import(file)) as typeof import('../../control/admin/index.ts');
  return Object.entries(await allCommands()).map(([text, { takes, help }]) => ({ text, takes, help }));
}
