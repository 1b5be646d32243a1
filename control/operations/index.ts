/** Operations on a whole deployment: backup, restore, demo data. */
export { answer, plainWords, readArguments, runProgram } from './arguments.ts';
export { makeBackup } from './backup.ts';
export { deploymentSecrets, existingSecrets } from './existing-data.ts';
export { cancelMove, moveDatabase } from './move-database.ts';
export { OperationError } from './operation-error.ts';
export { privateItems } from './private-files.ts';
export { restoreBackup, restoredInto } from './restore.ts';
export { seedDemo } from './seed.ts';
