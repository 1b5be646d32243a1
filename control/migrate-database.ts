/** `npm run migrate-database -- --to postgres://…`: moves the data of a control plane from SQLite to PostgreSQL. */

import { counted } from '#shared/counted.ts';
import { ownCommand } from '#shared/own-command.ts';
import {
  answer,
  cancelMove,
  existingSecrets,
  moveDatabase,
  OperationError,
  readArguments,
  runProgram,
} from './operations/index.ts';
import { readControlConfig } from './settings/index.ts';

const usage = `Usage: ${ownCommand('migrate-database')} --to postgres://user:password@host/database [--force] [--json]
       ${ownCommand('migrate-database')} --cancel

Copies the SQLite database of the data folder (TRUNKLINE_DATA) into a PostgreSQL database while the control plane runs,
follows its changes, and says when to stop it. Then it takes seconds; start the control plane with DATABASE_URL set to
the same URL. Rows in the PostgreSQL database are replaced with --force only. The file is kept under another name.
--cancel removes what a killed move left in the SQLite file.`;

await runProgram(async () => {
  const { values } = readArguments(usage, {
    to: { type: 'string' },
    force: { type: 'boolean' },
    cancel: { type: 'boolean' },
  });
  if (values.help) return usage;
  const config = readControlConfig();
  if (values.cancel) {
    const sentence = await cancelMove(config.database);
    return answer(values.json, sentence, { result: sentence });
  }
  if (values.to === undefined) throw new OperationError(`--to is missing.\n\n${usage}`);
  await existingSecrets(config);
  const { rows, kept } = await moveDatabase({
    databaseFile: config.database,
    dataFolder: config.dataFolder,
    to: values.to,
    force: values.force ?? false,
    now: new Date(),
    say: (line) => console.error(line),
  });
  return answer(
    values.json,
    `Moved ${counted(rows, 'row')}. The SQLite file is kept as ${kept}.\n` +
      'Set DATABASE_URL to the URL after --to, and start the control plane.',
    { rows, kept },
  );
});
