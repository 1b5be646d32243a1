/** Looking up calls, and explaining why one failed. */
import { Type } from 'typebox';
import { callStatuses } from '#shared/api/calls.ts';
import type { Answer, Trunkline } from '../../typescript/src/index.ts';
import { ApiError } from '../../typescript/src/index.ts';
import { explanationOf } from '../explanation.ts';
import { closed, id, optionalId, paged, phoneNumber, since } from '../inputs.ts';
import { tool } from '../tool.ts';

const callId = Type.Object({ call_id: id('call_id of list_calls') }, closed);

/** Turns, SIP messages and lines of a call that fit into an answer. */
const [mostTurns, mostMessages, usualLines] = [500, 40, 60];

const listCalls = tool(
  {
    name: 'list_calls',
    description:
      'Calls in progress and ended, newest first, with status, agent, length and why they ended. A page may be short although there are more: go on while next is not null.',
    input: Type.Object(
      {
        ...paged(50, 20),
        ...since,
        status: Type.Optional(
          Type.Unsafe<(typeof callStatuses)[number]>({
            type: 'string',
            enum: [...callStatuses],
            description: 'How far the call is, or how it ended',
          }),
        ),
        direction: Type.Optional(
          Type.Unsafe<'inbound' | 'outbound'>({
            type: 'string',
            enum: ['inbound', 'outbound'],
            description: 'inbound: to a number of the organization',
          }),
        ),
        phone_number: Type.Optional(phoneNumber),
        other_party: Type.Optional(
          Type.String({ minLength: 1, maxLength: 256, description: 'Number or SIP user at the other end' }),
        ),
        pathway_id: optionalId('Agent that the call began with'),
        persona_id: optionalId('Agent that the call began with'),
        trunk_id: optionalId('Configuration that the call used'),
        termination: Type.Optional(
          Type.String({ pattern: '^[a-z0-9_]{1,64}$', description: 'Code of why the call ended' }),
        ),
      },
      closed,
    ),
  },
  async (client, { limit = 20, ...query }, signal) =>
    (await client.request('GET /v1/calls', { query: { limit, ...query } }, { signal })).data,
);

const getCall = tool(
  {
    name: 'get_call',
    description: 'One call with its variables and a part of its transcript.',
    input: Type.Object(
      {
        call_id: id('call_id of list_calls'),
        first_line: Type.Optional(Type.Integer({ minimum: 0, description: 'Of the transcript; default: 0' })),
        lines: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 200, description: `Default: ${usualLines}` }),
        ),
      },
      closed,
    ),
  },
  async (client, { call_id, first_line = 0, lines = usualLines }, signal) => {
    const call = await client.calls.get(call_id, { signal });
    const { concatenated_transcript: _, pathway_logs, transcripts: __, ...facts } = call;
    const end = first_line + lines;
    return {
      ...facts,
      transcript: pathway_logs
        .slice(first_line, end)
        .map(({ created_at, node_name, role, text }) => ({ at: created_at, who: role, node_name, text })),
      transcript_lines: pathway_logs.length,
      next_line: end < pathway_logs.length ? end : null,
    };
  },
);

const searchTranscripts = tool(
  {
    name: 'search_transcripts',
    description: 'Lines in which words were said in any call, newest first.',
    input: Type.Object(
      {
        query: Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'Words; "in quotes" one after the other',
        }),
        ...paged(50, 20),
      },
      closed,
    ),
  },
  async (client, { limit = 20, ...query }, signal) =>
    (await client.request('GET /v1/calls/transcripts', { query: { limit, ...query } }, { signal })).data,
);

const explainCall = tool(
  {
    name: 'explain_call',
    description:
      'Why a call ended as it did: who caused it, what to change, endpoints that failed, audio that was missing, slow answers of the agent, and its SIP messages.',
    input: callId,
  },
  async (client, { call_id }, signal) => {
    const path = { call_id };
    const [call, logged, timeline, trace] = await Promise.all([
      client.calls.get(call_id, { signal }),
      ifThere(client.request('GET /v1/sip/calls/{call_id}', { path }, { signal })),
      ifThere(
        client.request(
          'GET /v1/sip/calls/{call_id}/timeline',
          { path, query: { limit: mostTurns } },
          { signal },
        ),
      ),
      ifThere(client.request('GET /v1/sip/calls/{call_id}/trace', { path }, { signal })),
    ]);
    return explanationOf({
      call,
      logged: logged?.data.call ?? null,
      turns: timeline?.data.turns ?? [],
      messages: trace?.data.messages.slice(-mostMessages) ?? [],
    });
  },
);

/** null: there is none, or the organization has no SIP entitlement. */
async function ifThere<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return null;
    throw error;
  }
}

type Refused = Answer<'GET /v1/sip/refused'>['data']['refused'][number];

const listRefused = tool(
  {
    name: 'list_refused_calls',
    description:
      'Calls that were refused before they began, counted by source, reason and number, each with what to change.',
    input: Type.Object({ ...paged(50, 20), ...since, phone_number: Type.Optional(phoneNumber) }, closed),
  },
  async (client: Trunkline, { limit = 20, ...query }, signal) => {
    const { data } = await client.request('GET /v1/sip/refused', { query: { limit, ...query } }, { signal });
    return {
      refused: data.refused.map(({ cursor: _, org_id: __, ...entry }: Refused) => entry),
      next: data.next,
    };
  },
);

export const callTools = [listCalls, getCall, searchTranscripts, explainCall, listRefused];
