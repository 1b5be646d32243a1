/** Commands for port requests, for operators who work with the carrier by hand. */

import { commandLineActor, recordChange } from '../audit/index.ts';
import { findRequest, openColumn } from '../porting/index.ts';
import { type Command, required, UsageError } from './command.ts';

export const portCommands: Readonly<Record<string, Command>> = {
  'port pin': {
    takes: '<port id>',
    help: 'the PIN of a port request, which the API never shows',
    options: [],
    run: async ({ clock, database: { db }, secrets }, id) => {
      const request = await findRequest(db, null, required(id, 'port id'));
      if (!request) throw new UsageError(`There is no port request ${id}.`);
      const pin = openColumn(secrets, request, 'pin');
      const change = { orgId: request.org_id, area: 'porting', subject: request.id, action: 'show_pin' };
      await recordChange(db, clock, commandLineActor, change);
      return pin ?? 'The request has no PIN.';
    },
  },
};
