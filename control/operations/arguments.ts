/** What the commands for operations have in common. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SettingError } from '#shared/setting-reader.ts';
import { faultWords, storageFault } from '#shared/storage-fault.ts';
import { DatabaseTooNew } from '../db/open.ts';
import { OperationError } from './operation-error.ts';

/** Reads arguments. @throws OperationError with the usage for what cannot be read, and for --help */
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

/** Runs a program and prints what it tells; a failure ends it with status 1 and, when it is expected, one sentence. */
export async function runProgram(work: () => Promise<string>): Promise<void> {
  try {
    console.log(await work());
  } catch (error) {
    console.error(plainWords(error) ?? error);
    process.exitCode = 1;
  }
}

/** What a failure says to the person at the keyboard; null: it is a fault of the program, whose stack helps. */
export function plainWords(error: unknown): string | null {
  if (error instanceof OperationError || error instanceof SettingError || error instanceof DatabaseTooNew)
    return error.message;
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const fault = storageFault(at);
    if (fault === null) continue;
    const path = 'path' in at && typeof at.path === 'string' ? ` (${at.path})` : '';
    return `Nothing can be written${path}: ${faultWords[fault]}. Look at the disk and the owner of the data folder (TRUNKLINE_DATA) and of the folder that was named, then try again. ${at.message}`;
  }
  return null;
}
