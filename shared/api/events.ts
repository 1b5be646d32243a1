/** The events of an organization as a stream (contract 17). */
import { type Static, Type } from 'typebox';
import { PhoneNumber, Text } from '#shared/api/common.ts';

export const EventQuery = Type.Object({
  types: Type.Optional(
    Text(1, 1000, 'Types or families of events, separated by commas: call.ended,trunk; default: all'),
  ),
  call_id: Type.Optional(Text(1, 200, 'Only events about this call')),
  number: Type.Optional(PhoneNumber('Only events of this number')),
  trunk_id: Type.Optional(Text(1, 200, 'Only events about this trunk: the id of its configuration')),
  subject_id: Type.Optional(
    Text(1, 200, 'Only events about this call, trunk, alert, discovery, test call, test run, batch or port'),
  ),
});
export type EventQuery = Static<typeof EventQuery>;

export const EventHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ description: 'What came after this event is sent; without it, what comes from now on' }),
  ),
});
