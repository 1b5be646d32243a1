/** A watched call as a scenario, in one request (contract 6.17): its caller, and the assertions that failed. */
import type { AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { WatchedCall, WatchedScenario } from '#shared/api/agent-testing/watches.ts';
import { ApiError } from '#shared/errors.ts';
import type { Actor } from '../../audit/index.ts';
import { findCall, findTranscript } from '../../calls/index.ts';
import { type Db, fromJson, type TestWatchedCallRow, type TestWatchRow } from '../../db/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import type { ScenarioWriter } from '../scenarios/drafts.ts';
import { scenarioFromCall } from '../scenarios/from-call.ts';
import { Redaction } from '../scenarios/redaction.ts';
import { namesSaid } from '../scenarios/redaction-names.ts';
import { freeName } from '../scenarios/rules.ts';
import { createScenario } from '../scenarios/write.ts';
import { assertionsOf } from './store.ts';

/** Keys of a menu; more of them are a number of the caller. */
const mostMenuKeys = 2;
/** Of a scenario. */
const mostLines = 200;
const longestLine = 4000;

/**
 * @throws ApiError CALL_NOT_FOUND when the watch has not judged it, or it is deleted; EMPTY_TRANSCRIPT,
 * PATHWAY_NOT_FOUND, PERSONA_NOT_FOUND, MODEL_UNAVAILABLE, SCENARIO_NAME_TAKEN, QUOTA_EXCEEDED
 */
export async function scenarioOfCall(
  services: TestingDeps,
  writer: ScenarioWriter,
  watch: TestWatchRow,
  callId: string,
  body: WatchedScenario,
  by: Actor,
): Promise<Scenario> {
  const { db } = services.database;
  const orgId = watch.org_id;
  const judged = await db
    .selectFrom('test_watched_calls')
    .selectAll()
    .where('watch_id', '=', watch.id)
    .where('call_id', '=', callId)
    .executeTakeFirst();
  const call = judged && (await findCall(db, orgId, callId));
  if (!judged || !call) throw ApiError.of('CALL_NOT_FOUND');
  const subject =
    call.pathway_id === null ? { persona_id: call.persona_id ?? '' } : { pathway_id: call.pathway_id };
  const { scenario_type = 'REPLAY' } = body;
  const draft = await scenarioFromCall(db, writer, orgId, { call_id: callId, ...subject });
  const replay = scenario_type === 'REPLAY' ? await linesOf(db, callId, call.variables) : null;
  const prompt = withoutKeys(draft.tester_persona_prompt);
  const name = body.name ?? freeName(withoutKeys(draft.name), await namesTaken(db, orgId));
  return createScenario(
    services,
    orgId,
    {
      ...subject,
      name,
      description: draft.description,
      category: draft.category,
      scenario_type,
      tester_persona_prompt: prompt,
      tester_persona_name: draft.tester_persona_name,
      request_data: draft.request_data,
      ...(replay && { input_messages: replay.lines }),
      metadata: {
        ...draft.metadata,
        ...(replay && { removed: replay.removed }),
        watch_id: watch.id,
        call_id: callId,
      },
      assertions: failedOf(watch, judged),
    } as Parameters<typeof createScenario>[2],
    by,
  );
}

/** Those that failed; all of them when none did. */
function failedOf(watch: TestWatchRow, judged: TestWatchedCallRow) {
  const results = fromJson<WatchedCall['assertion_results']>(judged.results);
  const failed = new Set(
    results.flatMap(({ assertion_id, status }) => (status === 'FAILED' ? [assertion_id] : [])),
  );
  const all = assertionsOf(watch);
  const chosen = all.filter(({ id }) => failed.has(id));
  return (chosen.length > 0 ? chosen : all).map(
    ({ config, is_required, name, type, weight }: AssertionView) => ({
      type,
      name,
      config,
      is_required,
      weight,
    }),
  );
}

/** What the caller said and pressed, without what tells who it was. */
async function linesOf(db: Db, callId: string, variables: Parameters<typeof fromJson>[0]) {
  const { entries } = await findTranscript(db, callId);
  const said = entries.flatMap(({ text, user }) =>
    user === 'agent-action' || text.trim() === '' ? [] : [{ role: user, content: text }],
  );
  const redaction = new Redaction();
  redaction.learn(await namesSaid(said), [fromJson(variables)]);
  const keys = { kind: 'keys', placeholder: '1234567890', hint: '…', count: 0 };
  const lines = said.slice(0, mostLines).map(({ content, role }) => {
    const pressed = role === 'user' ? /^Pressed ([0-9*#]+)$/.exec(content)?.[1] : undefined;
    if (pressed === undefined) return { role, content: redaction.text(content).slice(0, longestLine) };
    if (pressed.replaceAll(/\D/g, '').length <= mostMenuKeys) return { role, content };
    keys.count++;
    return { role, content: `Pressed ${madeUpKeys(pressed)}` };
  });
  const removed = [...redaction.removed().slice(0, 200), ...(keys.count > 0 ? [keys] : [])];
  return { lines, removed };
}

/** Those that a draft quotes. */
function withoutKeys(text: string): string {
  return text.replaceAll(/Pressed ([0-9*#]+)/g, (whole, pressed: string) =>
    pressed.replaceAll(/\D/g, '').length > mostMenuKeys ? `Pressed ${madeUpKeys(pressed)}` : whole,
  );
}

/** As many keys, which say nothing: 4711# becomes 1234#. */
export function madeUpKeys(pressed: string): string {
  let place = 0;
  return pressed.replaceAll(/\d/g, () => String(++place % 10));
}

async function namesTaken(db: Db, orgId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('test_scenarios')
    .select('name')
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .execute();
  return new Set(rows.map(({ name }) => name));
}
