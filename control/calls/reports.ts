/**
 * Stores calls, transcripts and SIP traces from the edges' reports: all of a transaction together, with a few statements
 * for each table. Calls come first, because the words of a transcript are kept with its call's organization.
 */
import type { MeasuredCall } from '#shared/edge-protocol/measured.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import {
  type CallRow,
  type ColumnTypes,
  type Db,
  insertsMany,
  type TracePartRow,
  type TranscriptPartRow,
  toJson,
} from '../db/index.ts';
import type { ReportEffects } from '../edge-link/index.ts';
import { eventSubject, type Followers, nobody, recordEvents } from '../events/index.ts';
import { reportSupervisors } from '../phone-sessions/index.ts';
import { webhookSubject } from '../webhooks/index.ts';
import { withSums } from './call-sums.ts';
import { queueCallsCompleted } from './completed-event.ts';
import { queueConferenceEvents, type ReportedEvent } from './conference-events.ts';
import { happeningsOfCalls, happeningsOfLines, happeningsOfSamples } from './happenings.ts';
import { unwantedOf } from './lost-store.ts';
import { MeasuredParts } from './measured-store.ts';
import { countNewPhoneCalls, type PhoneCall } from './phone-uses.ts';
import { callRow } from './rules.ts';

type Body<T extends ReportBody['type']> = Extract<ReportBody, { type: T }>;

interface ReportedCall {
  readonly row: CallRow;
  readonly phone: PhoneCall | null;
  readonly event: ReportedEvent | null;
  readonly effects: ReportEffects;
}

/** What the reports of one transaction say about calls, in their order. */
export class CallReports {
  readonly #calls: ReportedCall[] = [];
  readonly #transcripts: Omit<TranscriptPartRow, 'id'>[] = [];
  readonly #traces: Omit<TracePartRow, 'id'>[] = [];
  readonly #measured = new MeasuredParts();
  readonly #said: Body<'transcript'>[] = [];
  readonly #sampled: MeasuredCall[] = [];
  readonly #followers: Pick<Followers, 'in' | 'passing'>;
  #effects: ReportEffects | null = null;

  constructor(followers: Pick<Followers, 'in' | 'passing'>) {
    this.#followers = followers;
  }

  /** @param now ISO @throws RangeError for an invalid time */
  addCall({ call }: Body<'call'>, edgeId: string, now: string, effects: ReportEffects): void {
    const { conference_event: event } = call;
    this.#effects ??= effects;
    const { id, org_id: orgId, variables } = call;
    const { phone_session_id: sessionId } = variables;
    const phone = typeof sessionId === 'string' ? { id, orgId, sessionId } : null;
    const end_stored_at = call.ended_at === null ? null : now;
    const row = { ...callRow(call, edgeId), end_stored_at };
    this.#calls.push({ row, phone, event: event ? { event, call } : null, effects });
  }

  addTranscript(body: Body<'transcript'>, received_at: string, effects: ReportEffects): void {
    const { call_id, entries } = body;
    this.#effects ??= effects;
    this.#said.push(body);
    this.#transcripts.push({ call_id, entries: toJson(entries), received_at });
  }

  addTrace({ call_id, messages, truncated }: Body<'trace'>, received_at: string): void {
    this.#traces.push({
      call_id,
      messages: toJson(messages),
      message_count: messages.length,
      truncated: truncated ? 1 : 0,
      received_at,
    });
  }

  addMeasured({ calls }: Body<'measured'>, received_at: string): void {
    for (const call of calls) this.#measured.add(call, received_at);
    if (this.#followers.passing.isWatched) this.#sampled.push(...calls);
  }

  async store(db: Db, now: string): Promise<void> {
    const wanted = await this.#wanted(db);
    const ended = wanted.filter(({ row }) => row.ended_at !== null);
    const queued = await queueCallsCompleted(
      db,
      ended.map(({ row }) => row),
      now,
    );
    const told = await queueConferenceEvents(
      db,
      wanted.flatMap(({ event }) => event ?? []),
      now,
    );
    const isNews = wanted.length > 0 || this.#said.length > 0;
    const followed = isNews ? await this.#followers.in(db) : nobody;
    const happenings = await happeningsOfCalls(
      db,
      followed,
      wanted.map(({ row }) => row),
      now,
    );
    if (queued || told) wanted[0]?.effects.announced.add(webhookSubject);
    const supervised = await reportSupervisors(
      db,
      wanted.flatMap(({ phone, row }) => (phone ? [{ sessionId: phone.sessionId, row }] : [])),
      now,
    );
    await countNewPhoneCalls(
      db,
      wanted.flatMap(({ phone }) => phone ?? []),
    );
    const ids = new Set(wanted.map(({ row }) => row.id));
    await withSums(db, [...ids], async () => {
      for (const rows of newestRows(wanted.map(({ row }) => row))) await saveCalls(db, [...rows.values()]);
    });
    await insertTranscripts(db, this.#transcripts);
    await insertTraces(db, this.#traces);
    await this.#measured.store(db);
    await this.#tellSamples(db, now);
    if (followed.isEmpty) return;
    await recordEvents(db, [
      ...happenings,
      ...supervised,
      ...(await happeningsOfLines(db, followed, this.#said, now)),
    ]);
    this.#effects?.announced.add(eventSubject);
  }

  /** Before the commit: a sample that is told and then not stored comes again. */
  async #tellSamples(db: Db, now: string): Promise<void> {
    for (const one of await happeningsOfSamples(db, this.#sampled, now)) this.#followers.passing.tell(one);
  }

  /** Without running calls that their edges must end. */
  async #wanted(db: Db): Promise<readonly ReportedCall[]> {
    const running = this.#calls.filter(({ row }) => row.ended_at === null);
    const unwanted = await unwantedOf(
      db,
      running.map(({ row }) => row.id),
    );
    if (unwanted.size === 0) return this.#calls;
    return this.#calls.filter(({ row, effects }) => {
      const { id, org_id, ended_at } = row;
      if (ended_at === null && unwanted.has(id)) {
        effects.unwanted.add(id);
        return false;
      }
      // The edge has ended it, which replaces what control recorded.
      if (unwanted.get(id) === org_id) unwanted.delete(id);
      return true;
    });
  }
}

/**
 * One row for each call: what storing its rows one after another would leave. A call id that two organizations use gets a
 * row in a map for each: they are stored one after another, and the first has the call.
 */
function newestRows(rows: readonly CallRow[]): Map<string, CallRow>[] {
  const waves: Map<string, CallRow>[] = [];
  for (const row of rows) {
    const last = waves.at(-1);
    const before = last?.get(row.id);
    if (!last || (before && before.org_id !== row.org_id)) waves.push(new Map([[row.id, row]]));
    else last.set(row.id, before ? { ...row, ...lastingOf(before) } : row);
  }
  return waves;
}

/** What a later report of the same call leaves as it is. */
function lastingOf({ id, org_id, parent_id, started_at, metadata, webhook }: CallRow) {
  return { id, org_id, parent_id, started_at, metadata, webhook };
}

const callColumns: ColumnTypes<CallRow> = {
  id: 'text',
  org_id: 'text',
  edge_id: 'text',
  sip_call_id: 'text',
  parent_id: 'text',
  direction: 'text',
  from_number: 'text',
  to_number: 'text',
  number: 'text',
  trunk_id: 'text',
  source_ip: 'text',
  started_at: 'text',
  answered_at: 'text',
  ended_at: 'text',
  status: 'text',
  outcome: 'text',
  sip_code: 'bigint',
  sip_reason: 'text',
  termination: 'text',
  termination_detail: 'text',
  hangup_by: 'text',
  codec: 'text',
  media: 'text',
  agent_kind: 'text',
  pathway_id: 'text',
  pathway_version: 'bigint',
  persona_id: 'text',
  max_duration: 'bigint',
  request_data: 'text',
  variables: 'text',
  failover_attempts: 'text',
  metadata: 'text',
  webhook: 'text',
  transferred_to: 'text',
  answered_by: 'text',
  test_run_id: 'text',
  conference_id: 'text',
  conference: 'text',
  end_stored_at: 'text',
};

/** The columns that a later report changes. */
const {
  id: _id,
  org_id: _org,
  parent_id: _parent,
  started_at: _start,
  metadata: _data,
  webhook: _url,
  ...changing
} = callColumns;

const saveCalls = insertsMany<CallRow>('calls', callColumns, {
  key: 'id',
  columns: Object.keys(changing),
  where: 'org_id',
});

const insertTranscripts = insertsMany<Omit<TranscriptPartRow, 'id'>>('transcript_parts', {
  call_id: 'text',
  entries: 'text',
  received_at: 'text',
});

const insertTraces = insertsMany<Omit<TracePartRow, 'id'>>('trace_parts', {
  call_id: 'text',
  messages: 'text',
  message_count: 'bigint',
  truncated: 'bigint',
  received_at: 'text',
});
