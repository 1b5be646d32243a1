/** /v1/conferences: who talks with whom, and what is done to a party (contract 9.10). */
import { NoMembers, plain } from '#shared/api/common.ts';
import {
  ConferenceList,
  ConferenceOne,
  ConferencePath,
  ConferencesQuery,
  type ConferenceView,
  PartyChanged,
  PartyPath,
} from '#shared/api/conferences.ts';
import { ApiError } from '#shared/errors.ts';
import { fromJson } from '../db/index.ts';
import { type App, nextAfter, orgOf } from '../http/index.ts';
import { type ConferenceParty, listConferences, partiesOf } from './conference-store.ts';
import type { CallDeps } from './deps.ts';
import { findCall } from './store.ts';

const defaultPage = 50;

export function conferenceRoutes(app: App, { database: { db }, edges }: CallDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/conferences',
    config: { access: 'read' },
    schema: {
      summary: 'Open conferences with their parties, newest first',
      querystring: ConferencesQuery,
      response: { 200: ConferenceList },
    },
    handler: async (request) => {
      const { before, limit = defaultPage } = request.query;
      const ids = await listConferences(db, orgOf(request), before, limit);
      const conferences = viewsOf(ids, await partiesOf(db, orgOf(request), ids));
      return plain({ conferences, next: nextAfter(ids, limit, (id) => id) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/conferences/:conference_id',
    config: { access: 'read', errors: ['CONFERENCE_NOT_FOUND'] },
    schema: {
      summary: 'One open conference with its parties',
      params: ConferencePath,
      response: { 200: ConferenceOne },
    },
    handler: async (request) => {
      const { conference_id: id } = request.params;
      const [conference] = viewsOf([id], await partiesOf(db, orgOf(request), [id]));
      if (!conference) throw ApiError.of('CONFERENCE_NOT_FOUND');
      return plain({ conference });
    },
  });

  for (const { action, method, url, summary, message } of changes) {
    app.route({
      method,
      url,
      config: {
        access: 'member',
        ...(method === 'POST' && { resumable: true }),
        errors: ['CALL_NOT_FOUND', 'CALL_NOT_IN_CONFERENCE', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        summary,
        params: PartyPath,
        ...(method === 'POST' && { body: NoMembers }),
        response: { 200: PartyChanged },
      },
      handler: async (request) => {
        const { conference_id, call_id } = request.params;
        const call = await findCall(db, orgOf(request), call_id);
        if (!call) throw ApiError.of('CALL_NOT_FOUND');
        if (call.ended_at !== null || call.conference_id !== conference_id)
          throw ApiError.of('CALL_NOT_IN_CONFERENCE');
        await edges.command(call.edge_id, { kind: 'call.conference', call_id: call.id, action });
        return plain({ message });
      },
    });
  }
}

const party = '/v1/conferences/:conference_id/parties/:call_id';

const changes = [
  {
    action: 'mute',
    method: 'POST',
    url: `${party}/mute`,
    summary: 'Mute a party: the others do not hear it',
    message: 'Party muted',
  },
  {
    action: 'unmute',
    method: 'POST',
    url: `${party}/unmute`,
    summary: 'Let the others hear a party again',
    message: 'Party unmuted',
  },
  {
    action: 'remove',
    method: 'DELETE',
    url: party,
    summary: 'Remove a party, which ends its call',
    message: 'Party removed',
  },
] as const;

/** In the order of the ids; a conference whose last party has just left is left out. */
function viewsOf(ids: readonly string[], rows: readonly ConferenceParty[]): ConferenceView[] {
  const parties = rows.flatMap(({ conference, ...row }) =>
    conference === null ? [] : [{ ...row, state: fromJson(conference) }],
  );
  parties.sort((one, other) => (one.state.joined_at < other.state.joined_at ? -1 : 1));
  return ids.flatMap((id) => {
    const own = parties.filter(({ conference_id }) => conference_id === id);
    const [first] = own;
    if (!first) return [];
    return [
      {
        conference_id: id,
        name: first.state.name,
        edge_id: first.edge_id,
        opened_at: first.state.opened_at,
        parties: own.map(({ id: call_id, direction, from_number, to_number, state }) => ({
          call_id,
          direction,
          from: from_number,
          to: to_number,
          joined_at: state.joined_at,
          moderator: state.moderator,
          muted: state.muted,
          speaking: state.speaking,
        })),
      },
    ];
  });
}
