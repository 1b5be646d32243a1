/** POST /v1/agent-testing/scenarios/generate-from-call: a scenario from a conversation (contract 6.2). */
import { setImmediate } from 'node:timers/promises';
import type { GenerateFromCall } from '#shared/api/agent-testing/templates.ts';
import { ApiError } from '#shared/errors.ts';
import { findLoggedCall, findTranscript } from '../../calls/index.ts';
import { type Db, fromJson } from '../../db/index.ts';
import type { ScenarioWriter, SpokenLine } from './drafts.ts';
import { Redaction } from './redaction.ts';
import { namesSaid } from './redaction-names.ts';
import { readSubject } from './rules.ts';
import { requireSubject } from './store.ts';

interface Source {
  readonly lines: readonly SpokenLine[];
  /** The API client's request data; null: none. */
  readonly requestData: Record<string, unknown> | null;
  /** The call's variables: names in them are redacted. */
  readonly variables: unknown;
}

/**
 * @throws ApiError INVALID_PARAMETER, EMPTY_TRANSCRIPT, CALL_NOT_FOUND, PATHWAY_NOT_FOUND, PERSONA_NOT_FOUND,
 *   MODEL_UNAVAILABLE
 */
export async function scenarioFromCall(
  db: Db,
  writer: ScenarioWriter,
  orgId: string,
  body: GenerateFromCall,
) {
  const subject = readSubject(body);
  const { call_id, transcript } = body;
  if ((call_id === undefined) === (transcript === undefined)) {
    throw ApiError.invalid('/call_id', 'exactly one of call_id and transcript must be given');
  }
  if (transcript && !isSpoken(transcript)) throw ApiError.of('EMPTY_TRANSCRIPT');
  await requireSubject(db, orgId, subject);
  const source: Source = transcript
    ? { lines: transcript, requestData: null, variables: null }
    : await sourceOfCall(db, orgId, call_id ?? '');
  if (!isSpoken(source.lines)) throw ApiError.of('EMPTY_TRANSCRIPT');
  const redaction = new Redaction();
  redaction.learn(await namesSaid(source.lines), [source.requestData, source.variables]);
  const lines: SpokenLine[] = [];
  for (const { role, content } of source.lines) {
    lines.push({ role, content: redaction.text(content) });
    // A long call takes a second in total; yield to other work in this process.
    await setImmediate();
  }
  const request_data = source.requestData && asObject(redaction.value(source.requestData));
  const draft = await writer.write(lines);
  return {
    name: redaction.text(draft.name).slice(0, 200),
    description: redaction.text(draft.description).slice(0, 2000),
    category: draft.category,
    tester_persona_prompt: redaction.text(draft.tester_persona_prompt).slice(0, 20_000),
    // A writer may name the tester; the name must not occur in the call.
    tester_persona_name: draft.tester_persona_name && redaction.text(draft.tester_persona_name).slice(0, 100),
    pathway_id: subject.kind === 'pathway' ? subject.id : null,
    persona_id: subject.kind === 'persona' ? subject.id : null,
    request_data,
    start_node_id: null,
    metadata: { generated_by: writer.name, removed: redaction.removed().slice(0, 200) },
  };
}

function isSpoken(lines: readonly SpokenLine[]): boolean {
  return lines.some(({ role, content }) => role === 'user' && content.trim() !== '');
}

async function sourceOfCall(db: Db, orgId: string, callId: string): Promise<Source> {
  const call = await findLoggedCall(db, orgId, callId);
  if (!call) throw ApiError.of('CALL_NOT_FOUND');
  const { entries } = await findTranscript(db, call.id);
  const lines = entries.flatMap(({ user, text }): SpokenLine[] =>
    user === 'agent-action' || text.trim() === '' ? [] : [{ role: user, content: text }],
  );
  const requestData = asObject(fromJson(call.request_data));
  return {
    lines,
    requestData: requestData && Object.keys(requestData).length > 0 ? requestData : null,
    variables: fromJson(call.variables),
  };
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
