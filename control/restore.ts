/** `npm run restore -- <folder>`: replaces the data of a stopped control plane with a backup. */

import { resolve } from 'node:path';
import { counted } from '#shared/counted.ts';
import { ownCommand } from '#shared/own-command.ts';
import { findModulesByPath } from '#shared/own-modules.ts';
import { ownerOnly } from '#shared/private-folder.ts';

findModulesByPath();
const { holdDataFolder } = await import('./db/index.ts');
const { answer, OperationError, readArguments, restoreBackup, restoredInto, runProgram } = await import(
  './operations/index.ts'
);
const { readControlConfig } = await import('./settings/index.ts');

const usage = `Usage: ${ownCommand('restore')} <folder> [--force] [--json]

Puts a backup into the data folder (TRUNKLINE_DATA). The control plane must not run. A database that is there is
replaced with --force only, and kept under another name. BACKUP_PASSPHRASE opens the private files of the backup.`;

ownerOnly();
await runProgram(async () => {
  const { values, positionals } = readArguments(usage, {
    force: { type: 'boolean' },
  });
  if (values.help) return usage;
  const [source] = positionals;
  if (source === undefined) throw new OperationError(`The folder of the backup is missing.\n\n${usage}`);
  const { database, dataFolder, secretKey, backupPassphrase: passphrase } = readControlConfig();
  const release = holdDataFolder(dataFolder);
  try {
    const { madeAt, files, replaced } = await restoreBackup({
      source: resolve(source),
      database,
      dataFolder,
      secretKey,
      passphrase,
      force: values.force ?? false,
      now: new Date(),
    });
    const kept = replaced === null ? '' : `\nWhat was there before is kept as ${replaced}.`;
    return answer(
      values.json,
      `Restored ${counted(files, 'file')} of the backup of ${madeAt} into ${restoredInto(database, dataFolder)}.${kept}`,
      { made_at: madeAt, files, data_folder: dataFolder, kept: replaced },
    );
  } finally {
    release();
  }
});
