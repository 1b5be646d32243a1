/** Shared by the operations commands. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ownCommand } from '#shared/own-command.ts';
import { SettingError } from '#shared/settings/reader.ts';
import { storageWords } from '#shared/storage-fault.ts';
import { DatabaseTooNew, serverWords } from '../db/index.ts';
import { OperationError } from './operation-error.ts';

const afterDamage = () =>
  `Restore a backup: ${ownCommand('restore')} <folder> --force, which keeps the damaged file beside it.`;

/** The options of every operation. */
const common = { help: { type: 'boolean', short: 'h' }, json: { type: 'boolean' } } as const;

/** Parses arguments. @throws OperationError with the usage, for invalid arguments */
export function readArguments<T extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: T,
  args = process.argv.slice(2),
) {
  try {
    return parseArgs({ args, allowPositionals: true, options: { ...options, ...common } });
  } catch (error) {
    throw new OperationError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
}

/** What an operation answers: a sentence for people, or data for programs. */
export function answer(asJson: boolean | undefined, sentence: string, data: object): string {
  return asJson ? JSON.stringify(data, null, 2) : sentence;
}

/** Runs a program and prints its output. A failure exits with status 1 and, when expected, one sentence. */
export async function runProgram(work: () => Promise<string>): Promise<void> {
  try {
    console.log(await work());
  } catch (error) {
    console.error(plainWords(error) ?? error);
    process.exitCode = 1;
  }
}

/** The message of an expected failure; null: a fault of the program, whose stack is useful. */
export function plainWords(error: unknown): string | null {
  if (error instanceof OperationError || error instanceof SettingError || error instanceof DatabaseTooNew)
    return error.message;
  return serverWords(error) ?? storageWords(error, afterDamage());
}
