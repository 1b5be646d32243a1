/** Finds the command and runs its program in this process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble } from '../setup/trouble.mjs';
import { bashCompletion } from './completion.ts';
import { enterInstallation, hasCommand, readInstallation } from './installation.ts';
import { nearest } from './nearest.ts';
import { type CommandRow, commandTable } from './table.ts';

const root = join(import.meta.dirname, '..', '..');

/** @param args after `trunkline` @throws Trouble */
export async function runTrunkline(args: readonly string[]): Promise<void> {
  const installation = readInstallation();
  const rows = commandTable.filter((row) => hasCommand(row, installation));
  const [name = '--help', second] = args;
  if (['--help', '-h', 'help'].includes(name) && second === undefined) return console.log(helpText(rows));
  if (name === '--version' || name === '-V') return console.log(`trunkline ${version()}`);
  if (name === 'completion') return console.log((await completion(rows, second)).trimEnd());
  const isHelp = name === 'help';
  if (isHelp && second === 'completion') return console.log(completionUsage);
  const row = commandOf(isHelp ? (second ?? '') : name, rows);
  if (installation !== null && !isHelp && !args.includes('--help')) enterInstallation(row, installation);
  // The program reads its arguments after its own name.
  process.argv.splice(2, args.length, ...(isHelp ? ['--help'] : args.slice(1)));
  await import(new URL(row.file, `file://${root}/`).href);
}

/** One line for each command. */
export function helpText(rows: readonly CommandRow[]): string {
  const heads = rows.map(({ name, takes }) => `${name} ${takes}`.trimEnd());
  const width = Math.max(...heads.map((head) => head.length));
  const lines = rows.map(({ help }, at) => `  ${(heads[at] ?? '').padEnd(width)}  ${help}`);
  return `Usage: trunkline <command> [options]

${lines.join('\n')}
  ${'completion bash'.padEnd(width)}  prints the completion for bash

  trunkline <command> --help  shows the options of a command
  trunkline --version         shows the version

Commands that answer data print it as JSON with --json.`;
}

/** @throws Trouble for an unknown command, naming the one that was probably meant */
export function commandOf(name: string, rows: readonly CommandRow[]): CommandRow {
  const row = rows.find((one) => one.name === name);
  if (row) return row;
  const elsewhere = commandTable.find((one) => one.name === name);
  if (elsewhere) {
    const packages = elsewhere.packages.map((one) => `trunkline-${one}`).join(' or ');
    throw new Trouble(
      `cannot run trunkline ${name}`,
      `it belongs to ${packages}`,
      'run it on a machine that has it',
    );
  }
  const meant = nearest(
    name,
    rows.map((one) => one.name),
  );
  throw new Trouble(
    `there is no command "${name}"`,
    meant === null ? 'no command has a similar name' : `the nearest is "${meant}"`,
    meant === null ? 'trunkline --help lists all' : `trunkline ${meant}; trunkline --help lists all`,
  );
}

const completionUsage = `Usage: trunkline completion bash

Prints the completion for bash, which the packages install. For this shell alone: . <(trunkline completion bash)`;

async function completion(rows: readonly CommandRow[], shell: string | undefined): Promise<string> {
  if (shell === 'bash') return bashCompletion(rows);
  if (shell === '--help' || shell === '-h') return completionUsage;
  throw new Trouble(
    'cannot print a completion',
    shell === undefined ? 'no shell was named' : `there is none for "${shell}"`,
    'trunkline completion bash',
  );
}

function version(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}
