/** Shared by the operations commands. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SettingError } from '#shared/settings/reader.ts';
import { storageWords } from '#shared/storage-fault.ts';
import { DatabaseTooNew } from '../db/index.ts';
import { OperationError } from './operation-error.ts';

const afterDamage =
  'Restore a backup: npm run restore -- <folder> --force, which keeps the damaged file beside it.';

/** Parses arguments. @throws OperationError with the usage, for invalid arguments and for --help */
export function readArguments<T extends ParseArgsConfig['options']>(
  usage: string,
  options: T & object,
  args = process.argv.slice(2),
) {
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new OperationError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  }
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
  return storageWords(error, afterDamage);
}
