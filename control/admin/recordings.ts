/** Commands for the keys of recordings. */
import { commandLineActor, recordChange } from '../audit/index.ts';
import { listOrganizations } from '../organizations/index.ts';
import { rotateRecordingKey } from '../recording-keys/index.ts';
import type { Command } from './command.ts';

export const recordingCommands: Readonly<Record<string, Command>> = {
  'recording rotate-key': {
    takes: '',
    help: 'put a new key for recordings in force, and seal the keys of all stored recordings for it',
    options: [],
    run: async ({ catalogue, clock, database: { db }, secrets }) => {
      const { id, sealed, left } = await rotateRecordingKey(db, clock, secrets);
      const made = await catalogue();
      await made.change(async (trx, altered) => {
        for (const { id: orgId } of await listOrganizations(trx)) altered.organizations.add(orgId);
        const change = { orgId: null, area: 'recordings', subject: id, action: 'rotate_key' };
        await recordChange(trx, clock, commandLineActor, change);
      });
      const done = `The new key is ${id}. Recordings that were sealed for it: ${sealed}.`;
      return left === 0 ? done : `${done} Left, because their keys cannot be opened: ${left}.`;
    },
  },
};
