import { bearer, type Integration, params, text } from './integration.ts';

/** The service reads slots and bookings by its API version date. */
const slotHeaders = bearer('api_key', { 'cal-api-version': '2024-09-04' });
const bookingHeaders = bearer('api_key', { 'cal-api-version': '2024-08-13' });

/** A calendar with slots and bookings. */
export const schedulingB: Integration = {
  key: 'scheduling-b',
  credentials: { needed: true, texts: ['api_key'], baseUrl: 'required', headers: false },
  actions: [
    {
      key: 'list_slots',
      name: 'List slots',
      description: 'Lists the free slots of a kind of event.',
      kind: 'service',
      headers: slotHeaders,
      inputSchema: params(
        {
          event_type_id: { type: 'integer', description: 'id of the event type' },
          start: text('ISO 8601 date or time'),
          end: text('ISO 8601 date or time'),
          time_zone: text('IANA time zone name'),
        },
        ['event_type_id', 'start', 'end'],
      ),
      request: {
        method: 'GET',
        path: '/v2/slots',
        query: {
          eventTypeId: '{{input.event_type_id}}',
          start: '{{input.start}}',
          end: '{{input.end}}',
          timeZone: '{{input.time_zone}}',
        },
      },
    },
    {
      key: 'create_booking',
      name: 'Create a booking',
      description: 'Books a slot for an attendee.',
      kind: 'service',
      headers: bookingHeaders,
      inputSchema: params(
        {
          event_type_id: { type: 'integer', description: 'id of the event type' },
          start: text('ISO 8601 time in UTC'),
          name: text('name of the attendee'),
          email: text('mail address of the attendee'),
          phone_number: text('phone number of the attendee, E.164'),
          time_zone: text('IANA time zone name'),
        },
        ['event_type_id', 'start', 'name', 'time_zone'],
      ),
      request: {
        method: 'POST',
        path: '/v2/bookings',
        body: {
          eventTypeId: '{{input.event_type_id}}',
          start: '{{input.start}}',
          attendee: {
            name: '{{input.name}}',
            email: '{{input.email}}',
            phoneNumber: '{{input.phone_number}}',
            timeZone: '{{input.time_zone}}',
          },
        },
      },
    },
    {
      key: 'cancel_booking',
      name: 'Cancel a booking',
      description: 'Cancels a booking.',
      kind: 'service',
      headers: bookingHeaders,
      inputSchema: params({ booking_id: text('id of the booking'), reason: text('why') }, ['booking_id']),
      request: {
        method: 'POST',
        path: '/v2/bookings/{{input.booking_id}}/cancel',
        body: { cancellationReason: '{{input.reason}}' },
      },
    },
  ],
};
