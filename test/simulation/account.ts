/** The final check of a run: what control stored, against what edges reported and the far ends saw. */
import { isDeepStrictEqual } from 'node:util';
import type { CallRecord, TraceMessage, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRow } from '../../control/calls/rules.ts';
import type { Db } from '../../control/db/tables.ts';
import type { Arrivals, JournalEntry } from './journal.ts';
import type { Keypads } from './keys.ts';
import { keysOfPathway } from './pathway.ts';
import type { SeenCall } from './peers.ts';

export interface Books {
  readonly db: Db;
  /** Bodies of reports that the edge considered stored. */
  readonly written: readonly ReportBody[];
  readonly journal: readonly JournalEntry[];
  readonly arrivals: Arrivals;
  readonly seen: readonly SeenCall[];
  /** Call orders that control accepted, by id. */
  readonly placed: ReadonlySet<string>;
  /** Of each run of the edge. */
  readonly keypads: readonly Keypads[];
  /** Must not appear in a trace. */
  readonly secrets: readonly string[];
  /** Neither engine nor edge crashed, and every copy of a message reached the edge. */
  readonly wholeTraces: boolean;
}

/** @returns the number of calls, and all violations */
export async function account(books: Books): Promise<{ calls: number; problems: string[] }> {
  const reports = bodiesOf(books.journal);
  const calls = await ofCalls(books, reports.call);
  const problems = [
    ...(await ofReports(books, reports)),
    ...calls.problems,
    ...(await ofTraces(books)),
    ...(await ofRegistrations(books, reports.registration)),
    ...ofKeys(books, reports, calls.last),
  ];
  return { calls: calls.count, problems };
}

type Bodies = {
  readonly [Type in ReportBody['type']]: Extract<ReportBody, { type: Type }>[];
};

function bodiesOf(journal: readonly JournalEntry[]): Bodies {
  const bodies: Bodies = {
    call: [],
    transcript: [],
    trace: [],
    health: [],
    discovery: [],
    registration: [],
    test_call: [],
    running: [],
    measured: [],
    refused: [],
  };
  for (const { body } of journal) (bodies[body.type] as ReportBody[]).push(body);
  return bodies;
}

/** Every stored report arrived once, in the order of its number, and its result is stored accordingly. */
async function ofReports({ db, written, journal, arrivals }: Books, reports: Bodies): Promise<string[]> {
  const problems: string[] = [];
  const rejected = await db.selectFrom('rejected_reports').select(['problem']).execute();
  for (const { problem } of rejected) problems.push(`control rejected a report: ${problem}`);
  const differ = arrivals.differ(journal);
  if (differ !== null) problems.push(differ);
  const marks = await db.selectFrom('outboxes').select(['acknowledged']).execute();
  const last = journal.at(-1)?.seq;
  if (marks.length !== 1 || marks[0]?.acknowledged !== last)
    problems.push(`control acknowledges ${marks.map((mark) => mark.acknowledged).join(' ')}, not ${last}`);
  const kept = new Set(journal.map(({ body }) => JSON.stringify(body)));
  // What is measured is gathered first, and an edge that dies loses what it has gathered.
  const lost = written.filter((body) => body.type !== 'measured' && !kept.has(JSON.stringify(body)));
  for (const body of lost) problems.push(`a report of type ${body.type} was stored on the edge and is gone`);
  const transcripts = await db.selectFrom('transcript_parts').selectAll().orderBy('id').execute();
  const lines = transcripts.map(({ call_id, entries }) => [
    call_id,
    JSON.parse(entries) as TranscriptEntry[],
  ]);
  if (
    !isDeepStrictEqual(
      lines,
      reports.transcript.map(({ call_id, entries }) => [call_id, entries]),
    )
  )
    problems.push('the transcripts that control keeps are not those that were reported, in their order');
  const traces = await db.selectFrom('trace_parts').selectAll().orderBy('id').execute();
  const messages = traces.map((part) => [part.call_id, JSON.parse(part.messages) as TraceMessage[]]);
  if (
    !isDeepStrictEqual(
      messages,
      reports.trace.map((part) => [part.call_id, part.messages]),
    )
  )
    problems.push('the traces that control keeps are not those that were reported, in their order');
  return [...problems, ...(await ofTurns(db, reports.measured))];
}

/** What happened in the turns of each call is there as often as it was reported. */
async function ofTurns(db: Books['db'], reported: Bodies['measured']): Promise<string[]> {
  const told = reported.flatMap(({ calls }) =>
    calls.flatMap(({ call_id, marks }) => marks.map((mark) => `${call_id} ${JSON.stringify(mark)}`)),
  );
  const parts = await db.selectFrom('turn_parts').select(['call_id', 'content']).execute();
  const kept = parts.flatMap(({ call_id, content }) => {
    const marks: unknown[] = JSON.parse(`[${content.slice(0, -1)}]`);
    return marks.map((mark) => `${call_id} ${JSON.stringify(mark)}`);
  });
  if (isDeepStrictEqual(kept.sort(), told.sort())) return [];
  return ['the turns of calls that control keeps are not those that were reported'];
}

/** Exactly one record of each call, as it was last reported. */
async function ofCalls({ db, seen, placed }: Books, reported: Bodies['call']) {
  const problems: string[] = [];
  const rows = await db.selectFrom('calls').selectAll().execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const last = new Map<string, CallRecord>();
  for (const { call } of reported) {
    if (last.get(call.id)?.ended_at) problems.push(`call ${call.id} was reported again after its end`);
    last.set(call.id, call);
  }
  for (const [id, record] of last) {
    const row = byId.get(id);
    if (!row) {
      problems.push(`call ${id} (${record.sip_call_id}) is lost`);
      continue;
    }
    if (row.ended_at === null)
      problems.push(`call ${id} (${record.sip_call_id}) has no end in control: ${row.status}`);
    const told = callRow(record, row.edge_id ?? '');
    for (const name of sameColumns) {
      if (row[name] !== told[name])
        problems.push(`call ${id} was reported with ${name} ${told[name]}, control says ${row[name]}`);
    }
  }
  for (const row of rows) {
    if (row.ended_at === null) problems.push(`call ${row.id} is not over in control: ${row.status}`);
  }
  for (const id of placed) if (!byId.has(id)) problems.push(`placed call ${id} has no record`);
  const ofCallId = Map.groupBy(
    rows.filter(({ sip_call_id: id }) => id),
    (row) => row.sip_call_id,
  );
  for (const { callId, status } of seen) {
    const records = ofCallId.get(callId)?.length ?? 0;
    if (records > 1) problems.push(`${callId} has ${records} records`);
    if (records === 0 && status === 200) problems.push(`${callId} was answered and has no record`);
  }
  return { problems, last, count: rows.length };
}

const sameColumns = [
  'sip_call_id',
  'status',
  'answered_at',
  'ended_at',
  'sip_code',
  'termination',
  'hangup_by',
  'answered_by',
  'variables',
  'media',
] as const;

/** A trace contains no secret and no part twice, and it has the 200 that an answered caller received. */
async function ofTraces({ db, seen, secrets, wholeTraces }: Books): Promise<string[]> {
  const problems: string[] = [];
  const parts = await db
    .selectFrom('trace_parts')
    .innerJoin('calls', 'calls.id', 'trace_parts.call_id')
    .select(['calls.sip_call_id', 'trace_parts.messages', 'trace_parts.truncated'])
    .orderBy('trace_parts.id')
    .execute();
  const ofCallId = new Map<string, TraceMessage[]>();
  for (const { sip_call_id: callId, messages } of parts) {
    const known = ofCallId.get(callId) ?? [];
    const more = JSON.parse(messages) as TraceMessage[];
    // A part that starts like an earlier one was reported twice; a single message may occur twice in a millisecond.
    if (known.length > 0 && isDeepStrictEqual(known[0], more[0]))
      problems.push(`the trace of ${callId} has its beginning twice`);
    known.push(...more);
    ofCallId.set(callId, known);
  }
  for (const [callId, messages] of ofCallId) {
    const told = messages.find(({ raw }) => secrets.some((secret) => raw.includes(secret)));
    if (told) problems.push(`the trace of ${callId} has a secret: ${told.start_line}`);
  }
  if (!wholeTraces) return problems;
  for (const { callId, direction, status } of seen) {
    if (direction !== 'inbound' || status !== 200) continue;
    const messages = ofCallId.get(callId) ?? [];
    const has = (line: string, way: TraceMessage['direction']) =>
      messages.some((message) => message.direction === way && message.start_line.startsWith(line));
    if (!has('INVITE ', 'received') || !has('SIP/2.0 200', 'sent'))
      problems.push(
        `the trace of ${callId} lacks its INVITE or 200: ${messages.map((one) => one.start_line).join('; ')}`,
      );
  }
  return problems;
}

/** Control has the edge's last report about each registration. */
async function ofRegistrations({ db }: Books, reported: Bodies['registration']): Promise<string[]> {
  const last = new Map(reported.map((body) => [body.trunk_id, body]));
  const rows = await db.selectFrom('registrations').selectAll().execute();
  return rows.flatMap((row) => {
    const told = last.get(row.configuration_id);
    if (row.state === told?.state && row.at === told.at && row.expires_at === told.expires_at) return [];
    return [
      `registration ${row.configuration_id} was last reported ${told?.state} at ${told?.at}, control says ${row.state} at ${row.at}`,
    ];
  });
}

/** The keys in a call's transcript are the pressed ones, once and in order; its variables match them. */
function ofKeys({ keypads }: Books, { transcript }: Bodies, last: ReadonlyMap<string, CallRecord>): string[] {
  const problems: string[] = [];
  const lines = Map.groupBy(
    transcript.flatMap(({ call_id: id, entries }) => entries.map((entry) => ({ id, entry }))),
    ({ id }) => id,
  );
  for (const [id, entries] of lines) {
    const texts = entries.map(({ entry }) => entry.text);
    const taken = texts.flatMap((text) => /^Pressed (.+)$/.exec(text)?.[1] ?? []);
    const pressed = keypads.map((keys) => keys.pressed.get(id) ?? '').join('');
    if (!isWithin(taken.join(''), pressed))
      problems.push(`call ${id} took the keys ${taken.join(' ')} of ${pressed}`);
    const said = texts.filter((text) => text === `Sends the keys ${keysOfPathway}`).length;
    const sent = keypads.map((keys) => keys.played.get(id) ?? '').join('').length / keysOfPathway.length;
    const diedMeanwhile = last.get(id)?.termination === 'edge_restarted';
    if (sent !== said && !(diedMeanwhile && sent === said - 1))
      problems.push(`call ${id} says ${said} times that it sends keys, and has sent them ${sent} times`);
    const heard = entries.findLast(
      ({ entry }) => entry.node_id === 'account' && /^Pressed \d+$/.test(entry.text),
    );
    const learned = last.get(id)?.variables.account;
    if (heard && !diedMeanwhile && String(learned) !== String(Number(heard.entry.text.slice(8))))
      problems.push(`call ${id} heard ${heard.entry.text} and has learned ${learned}`);
  }
  return problems;
}

/** Whether `keys` are in `all` in this order, possibly with others between. */
function isWithin(keys: string, all: string): boolean {
  let at = 0;
  for (const key of keys) {
    at = all.indexOf(key, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
