import { bearer, type Integration, params, text } from './integration.ts';

const headers = bearer('token');

/** A calendar whose owners publish event types that others book. */
export const schedulingA: Integration = {
  key: 'scheduling-a',
  credentials: { needed: true, texts: ['token'], baseUrl: 'required', headers: false },
  actions: [
    {
      key: 'list_event_types',
      name: 'List event types',
      description: 'Lists the kinds of events that can be booked with a user or an organization.',
      kind: 'service',
      headers,
      inputSchema: params({
        user: text('URI of the user'),
        organization: text('URI of the organization'),
        count: { type: 'integer', minimum: 1, maximum: 100 },
      }),
      request: {
        method: 'GET',
        path: '/event_types',
        query: {
          user: '{{input.user}}',
          organization: '{{input.organization}}',
          count: '{{input.count}}',
        },
      },
    },
    {
      key: 'list_available_times',
      name: 'List available times',
      description: 'Lists the free times of a kind of event, of at most 7 days.',
      kind: 'service',
      headers,
      inputSchema: params(
        {
          event_type: text('URI of the event type'),
          start_time: text('ISO 8601, in the future'),
          end_time: text('ISO 8601'),
        },
        ['event_type', 'start_time', 'end_time'],
      ),
      request: {
        method: 'GET',
        path: '/event_type_available_times',
        query: {
          event_type: '{{input.event_type}}',
          start_time: '{{input.start_time}}',
          end_time: '{{input.end_time}}',
        },
      },
    },
    {
      key: 'cancel_event',
      name: 'Cancel an event',
      description: 'Cancels an event that was booked.',
      kind: 'service',
      headers,
      inputSchema: params({ event_id: text('id of the event'), reason: text('shown to the invitee') }, [
        'event_id',
      ]),
      request: {
        method: 'POST',
        path: '/scheduled_events/{{input.event_id}}/cancellation',
        body: { reason: '{{input.reason}}' },
      },
    },
  ],
};
