import { expect, it } from 'vitest';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { abandoned } from './call-records.ts';

const at = '2030-01-01T00:01:00.000Z';
const call = callRecord({ id: 'up', answered_at: '2030-01-01T00:00:00.000Z' });
const conference = {
  id: 'room',
  name: 'sales',
  opened_at: '2030-01-01T00:00:02.000Z',
  joined_at: '2030-01-01T00:00:03.000Z',
  moderator: false,
  muted: false,
  speaking: true,
};
const joined = { what: 'joined', at: conference.joined_at, conference_id: 'room', name: 'sales' } as const;

it('a call whose process died has left its conference, and repeats no earlier event', () => {
  const record = abandoned({ ...call, conference, conference_event: { id: 'e1', ...joined } }, at);
  expect(record).toMatchObject({
    ended_at: at,
    termination: 'edge_restarted',
    conference: null,
    conference_event: { what: 'left', at, conference_id: 'room', name: 'sales' },
  });
  expect(record.conference_event?.id).not.toBe('e1');
});

it('a call that was in no conference tells of none', () => {
  const record = abandoned({ ...call, conference_event: { id: 'e1', ...joined, what: 'left' } }, at);
  expect(record).not.toHaveProperty('conference_event');
});
