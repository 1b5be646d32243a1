/** Production calls that have ended, as stored, for tests of watches. */
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import type { TranscriptFact } from '#shared/edge-protocol/transcript-facts.ts';
import { toJson } from '../../../control/db/index.ts';
import type { TestControl } from './harness.ts';

export interface EndedCall {
  readonly id: string;
  readonly pathway_id?: string | null;
  readonly persona_id?: string | null;
  readonly version?: number;
  /** ISO */
  readonly ended_at: string;
  /** ISO; null: by an earlier version. Default: `ended_at` */
  readonly end_stored_at?: string | null;
  /** Who, what, in which node; with what happened, as edges of this version report it. */
  readonly said: readonly (readonly [
    'user' | 'assistant' | 'agent-action',
    string,
    (string | null)?,
    (TranscriptFact | null)?,
  ])[];
  readonly media?: Partial<MediaReport>;
  readonly org_id?: string;
  readonly test_run_id?: string;
  /** Default: pathway, or persona without one. */
  readonly agent_kind?: string;
}

/** Stores a call with its transcript. */
export async function storeEndedCall(test: TestControl, call: EndedCall): Promise<void> {
  const { db } = test.control.services.database;
  const { ended_at, id, pathway_id = null, persona_id = null, said, version = 0 } = call;
  await db
    .insertInto('calls')
    .values({
      id,
      org_id: call.org_id ?? test.orgId,
      edge_id: 'edge',
      sip_call_id: `${id}@pbx`,
      parent_id: null,
      direction: 'inbound',
      from_number: '+14155550123',
      to_number: '+14155550100',
      number: '+14155550100',
      trunk_id: null,
      source_ip: null,
      started_at: ended_at,
      answered_at: ended_at,
      ended_at,
      status: 'completed',
      outcome: 'completed',
      sip_code: 200,
      sip_reason: 'OK',
      termination: 'caller_hangup',
      termination_detail: null,
      hangup_by: 'peer',
      codec: 'PCMU',
      media: call.media ? toJson(call.media as MediaReport) : null,
      agent_kind: call.agent_kind ?? (pathway_id === null ? 'persona' : 'pathway'),
      pathway_id,
      pathway_version: pathway_id === null ? null : version,
      persona_id,
      max_duration: null,
      request_data: toJson({}),
      variables: toJson({}),
      failover_attempts: null,
      metadata: toJson({}),
      webhook: null,
      transferred_to: null,
      answered_by: null,
      test_run_id: call.test_run_id ?? null,
      conference_id: null,
      conference: null,
      end_stored_at: call.end_stored_at === undefined ? ended_at : call.end_stored_at,
    })
    .execute();
  await db
    .insertInto('transcript_parts')
    .values({
      call_id: id,
      entries: toJson(
        said.map(([user, text, node, fact], place) => ({
          id: `${id}-${place}`,
          at: ended_at,
          user,
          text,
          node_id: node ?? null,
          node_name: node ?? null,
          ...(fact !== undefined && { fact }),
        })),
      ),
      received_at: ended_at,
    })
    .execute();
}
