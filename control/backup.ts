/** `npm run backup -- [folder]`: backs up a control plane, running or not. */

import { join, resolve } from 'node:path';
import { counted } from '#shared/counted.ts';
import { ownCommand } from '#shared/own-command.ts';
import { findModulesByPath } from '#shared/own-modules.ts';

findModulesByPath();
const { answer, existingSecrets, makeBackup, privateItems, readArguments, runProgram } = await import(
  './operations/index.ts'
);
const { readControlConfig } = await import('./settings/index.ts');

const usage = `Usage: ${ownCommand('backup')} [folder] [--without-recordings] [--json]

Copies the database, and documents and recordings of the data folder (TRUNKLINE_DATA) into a new folder, also while the control
plane runs; without a name into a folder of its own under backups/ in the data folder. Copy it to another disk then.
Stored secrets stay sealed in the copy. With BACKUP_PASSPHRASE set, the files that open them
(${privateItems.join(', ')}) go with it, sealed by the passphrase; otherwise keep a copy of them elsewhere.`;

await runProgram(async () => {
  const { values, positionals } = readArguments(usage, {
    'without-recordings': { type: 'boolean' },
  });
  if (values.help) return usage;
  const config = readControlConfig();
  const now = new Date();
  const name = positionals[0] ?? `trunkline-backup-${now.toISOString().slice(0, 19).replaceAll(':', '')}`;
  // Next to the data folder, not in the current directory.
  const target = positionals[0] === undefined ? join(config.dataFolder, 'backups', name) : resolve(name);
  const secrets = await existingSecrets(config);
  const { database, dataFolder, backupPassphrase: passphrase } = config;
  const recordings = values['without-recordings'] !== true;
  const options = { database, dataFolder, secrets, target, passphrase, recordings, now };
  const { files } = await makeBackup(options);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const rest =
    passphrase === null
      ? `Not in it, and needed to restore: ${config.secretKey === null ? `${dataFolder}/secret.key` : 'TRUNKLINE_SECRET_KEY'}. ` +
        `Keep a copy of it (and of ${privateItems.slice(1).join(', ')}) elsewhere, or set BACKUP_PASSPHRASE.`
      : 'The key of stored secrets is in it, sealed by BACKUP_PASSPHRASE; without the passphrase it cannot be read.';
  return answer(
    values.json,
    `${target}: ${counted(files.length, 'file')}, ${counted(bytes, 'byte')}, checked.\n${rest}`,
    { folder: target, files: files.length, bytes, has_secrets: passphrase !== null },
  );
});
