/** Trunks: the numbers with SIP, and whether their endpoints answer. */
import { Type } from 'typebox';
import { closed, paged, phoneNumber, skipped } from '../inputs.ts';
import { tool } from '../tool.ts';

const listTrunks = tool(
  {
    name: 'list_trunks',
    description: 'Numbers with SIP configurations: directions, endpoint, and health of the endpoint.',
    input: Type.Object(skipped(100, 50), closed),
  },
  async (client, { limit = 50, offset = 0 }, signal) => {
    const { data } = await client.request('GET /v1/sip/numbers', { query: { limit, offset } }, { signal });
    return { trunks: data.numbers, next_offset: data.numbers.length < limit ? null : offset + limit };
  },
);

const getTrunk = tool(
  {
    name: 'get_trunk',
    description:
      'One number: the health and certificate of each endpoint, its configurations, and its open alerts.',
    input: Type.Object({ phone_number: phoneNumber }, closed),
  },
  async (client, { phone_number }, signal) => {
    const query = { phone_number };
    const [status, configuration, alerts] = await Promise.all([
      client.request('GET /v1/sip/status', { query }, { signal }),
      client.request('GET /v1/sip', { query }, { signal }),
      client.request('GET /v1/sip/alerts', { query: { ...query, state: 'open', limit: 20 } }, { signal }),
    ]);
    return { health: status.data, configuration: configuration.data, open_alerts: alerts.data.alerts };
  },
);

const listAlerts = tool(
  {
    name: 'list_alerts',
    description: 'Alerts of trunks, newest first: unreachable, failed calls, slow, certificate.',
    input: Type.Object(
      {
        ...paged(50, 20),
        state: Type.Optional(
          Type.Unsafe<'open' | 'resolved'>({
            type: 'string',
            enum: ['open', 'resolved'],
            description: 'open: the problem lasts',
          }),
        ),
      },
      closed,
    ),
  },
  async (client, { limit = 20, ...query }, signal) =>
    (await client.request('GET /v1/sip/alerts', { query: { limit, ...query } }, { signal })).data,
);

export const trunkTools = [listTrunks, getTrunk, listAlerts];
