/** /v1/agent-testing/watches: production calls that are judged as they end (contract 6.17). */

import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import {
  mostVersions,
  WatchAnswer,
  WatchCreate,
  WatchedList,
  WatchedPath,
  WatchedQuery,
  WatchedScenario,
  WatchLineAnswer,
  WatchList,
  WatchPath,
  WatchUpdate,
} from '#shared/api/agent-testing/watches.ts';
import { TestingDeleted, testing } from '#shared/api/agent-testing/wrapping.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { resolveDrift } from '../../alerts/index.ts';
import { actorOf, changedFields } from '../../audit/index.ts';
import { type TestWatchRow, toJson } from '../../db/index.ts';
import { type App, orgOf } from '../../http/index.ts';
import { findNumber } from '../../numbers/index.ts';
import { isoTime } from '../../organizations/index.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { modelWriter, ruleWriter } from '../scenarios/drafts.ts';
import { assertionRows, assertionView } from '../scenarios/rules.ts';
import { requireSubject } from '../scenarios/store.ts';
import { notWatchable } from './record.ts';
import { driftOf, sharesOf } from './rules.ts';
import {
  countedCalls,
  listWatches,
  pageOfCalls,
  requireWatch,
  watchedCallView,
  watchLine,
  watchRoom,
} from './store.ts';
import { scenarioOfCall } from './to-scenario.ts';
import { watchSubject } from './work.ts';

const base = '/v1/agent-testing/watches';

export function watchRoutes(app: App, services: TestingDeps): void {
  readRoutes(app, services);
  writeRoutes(app, services);
  scenarioRoute(app, services);
}

function readRoutes(app: App, { clock, database }: TestingDeps): void {
  const { db } = database;
  const today = () => isoTime(clock).slice(0, 10);

  app.route({
    method: 'GET',
    url: base,
    config: { access: 'read' },
    schema: { summary: 'Watches over production calls, newest first', response: { 200: WatchList } },
    handler: async (request) => {
      const rows = await listWatches(db, orgOf(request));
      return testing({ watches: rows.map((row) => watchLine(row, today())) });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/:id`,
    config: { access: 'read', errors: ['TEST_WATCH_NOT_FOUND'] },
    schema: {
      summary: 'One watch: shares that passed by version, and whether the version in use has drifted',
      params: WatchPath,
      response: { 200: WatchAnswer },
    },
    handler: async (request) => {
      const watch = await requireWatch(db, orgOf(request), request.params.id);
      const versions = sharesOf(await countedCalls(db, watch), mostVersions);
      const drift = driftOf(versions, watch.drift_min_calls);
      return testing({ ...watchLine(watch, today()), versions, drift });
    },
  });

  app.route({
    method: 'GET',
    url: `${base}/:id/calls`,
    config: { access: 'read', errors: ['TEST_WATCH_NOT_FOUND'] },
    schema: {
      summary: 'The judged calls of a watch, newest first',
      params: WatchPath,
      querystring: WatchedQuery,
      response: { 200: WatchedList },
    },
    handler: async (request) => {
      const watch = await requireWatch(db, orgOf(request), request.params.id);
      const { limit = 20, offset = 0, ...filter } = request.query;
      const { rows, total } = await pageOfCalls(db, watch.id, filter, { limit, offset });
      return testing({ calls: rows.map(watchedCallView), total_count: total });
    },
  });
}

function writeRoutes(app: App, services: TestingDeps): void {
  const { announcements, clock, database } = services;
  const { db } = database;

  app.route({
    method: 'POST',
    url: base,
    config: {
      access: 'member',
      errors: ['PATHWAY_NOT_FOUND', 'PERSONA_NOT_FOUND', 'NUMBER_NOT_FOUND', 'QUOTA_EXCEEDED'],
    },
    schema: {
      summary: 'Judge production calls from now on',
      body: WatchCreate,
      response: { 200: WatchLineAnswer },
    },
    handler: async (request) => {
      const { body } = request;
      const orgId = orgOf(request);
      const now = isoTime(clock);
      const id = newId();
      const row: TestWatchRow = {
        id,
        org_id: orgId,
        pathway_id: body.pathway_id ?? null,
        persona_id: body.persona_id ?? null,
        number: numberOf(body.phone_number),
        ...written({ enabled: true, ...body }),
        name: body.name,
        assertions: readAssertions(body.assertions, id),
        assertions_at: now,
        ends_from: now,
        cursor_at: now,
        cursor_id: '',
        next_at: now,
        day: now.slice(0, 10),
        judged: 0,
        skipped: 0,
        model_tokens: 0,
        alarm: null,
        created_at: now,
        updated_at: now,
      };
      if ([row.pathway_id, row.persona_id, row.number].every((one) => one === null))
        throw ApiError.invalid('/pathway_id', 'is required, or persona_id or phone_number in its place');
      if (row.pathway_id !== null && row.persona_id !== null)
        throw ApiError.invalid('/persona_id', 'must not be given with pathway_id');
      await db.transaction().execute(async (trx) => {
        if (row.pathway_id !== null)
          await requireSubject(trx, orgId, { kind: 'pathway', id: row.pathway_id });
        if (row.persona_id !== null)
          await requireSubject(trx, orgId, { kind: 'persona', id: row.persona_id });
        if (row.number !== null && !(await findNumber(trx, orgId, row.number)))
          throw ApiError.of('NUMBER_NOT_FOUND');
        await watchRoom(trx, orgId);
        await trx.insertInto('test_watches').values(row).execute();
        const change = { orgId, subject: id, action: 'watch_create' as const };
        await recordTestingChange(trx, services, actorOf(request), change);
      });
      announcements.announce(watchSubject);
      return testing(watchLine(row, now.slice(0, 10)));
    },
  });

  app.route({
    method: 'PUT',
    url: `${base}/:id`,
    config: { access: 'member', errors: ['TEST_WATCH_NOT_FOUND'] },
    schema: {
      summary: 'Change a watch; other assertions reset its figures',
      params: WatchPath,
      body: WatchUpdate,
      response: { 200: WatchLineAnswer },
    },
    handler: async (request) => {
      const { body } = request;
      const orgId = orgOf(request);
      const now = isoTime(clock);
      const row = await db.transaction().execute(async (trx) => {
        const stored = await requireWatch(trx, orgId, request.params.id);
        const change = {
          ...changed(body),
          ...(body.assertions && {
            assertions: readAssertions(body.assertions, stored.id),
            assertions_at: now,
            alarm: null,
          }),
          // What ended while it was off is not judged.
          ...(body.enabled &&
            stored.enabled === 0 && { ends_from: now, cursor_at: now, cursor_id: '', next_at: now }),
          updated_at: now,
        };
        await trx.updateTable('test_watches').set(change).where('id', '=', stored.id).execute();
        if (body.assertions) await resolveDrift(trx, stored.id, now);
        const next: TestWatchRow = { ...stored, ...change };
        const fields = changedFields(stored, next);
        await recordTestingChange(trx, services, actorOf(request), {
          orgId,
          subject: stored.id,
          action: 'watch_update',
          fields,
        });
        return next;
      });
      announcements.announce(watchSubject);
      return testing(watchLine(row, now.slice(0, 10)));
    },
  });

  app.route({
    method: 'DELETE',
    url: `${base}/:id`,
    config: { access: 'member', errors: ['TEST_WATCH_NOT_FOUND'] },
    schema: {
      summary: 'Delete a watch and its verdicts; the calls stay',
      params: WatchPath,
      response: { 200: TestingDeleted },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      await db.transaction().execute(async (trx) => {
        const { id } = await requireWatch(trx, orgId, request.params.id);
        await trx.deleteFrom('test_watched_calls').where('watch_id', '=', id).execute();
        await trx.deleteFrom('test_watches').where('id', '=', id).execute();
        await resolveDrift(trx, id, isoTime(clock));
        const change = { orgId, subject: id, action: 'watch_delete' as const };
        await recordTestingChange(trx, services, actorOf(request), change);
      });
      return testing({ deleted: true as const });
    },
  });
}

function scenarioRoute(app: App, services: TestingDeps): void {
  const { judge } = services.models;
  const writer = judge ? modelWriter(judge) : ruleWriter;
  app.route({
    method: 'POST',
    url: `${base}/:id/calls/:call_id/scenario`,
    config: {
      access: 'member',
      limits: [{ scope: 'organization_scenario_of_call', limit: 10, windowSeconds: 60 }],
      errors: [
        'TEST_WATCH_NOT_FOUND',
        'CALL_NOT_FOUND',
        'EMPTY_TRANSCRIPT',
        'PATHWAY_NOT_FOUND',
        'PERSONA_NOT_FOUND',
        'MODEL_UNAVAILABLE',
        'SCENARIO_NAME_TAKEN',
        'QUOTA_EXCEEDED',
      ],
    },
    schema: {
      summary: 'Create a scenario from a judged call: its caller, and the assertions that failed',
      params: WatchedPath,
      body: WatchedScenario,
      response: { 200: ScenarioAnswer },
    },
    handler: async (request) => {
      const { call_id, id } = request.params;
      const watch = await requireWatch(services.database.db, orgOf(request), id);
      return testing(await scenarioOfCall(services, writer, watch, call_id, request.body, actorOf(request)));
    },
  });
}

type Written = Partial<
  Pick<
    WatchCreate,
    'sample_rate' | 'calls_per_day' | 'model_tokens_per_day' | 'drift_min_calls' | 'enabled' | 'name'
  >
>;

function written(body: Written) {
  return {
    sample_rate: body.sample_rate ?? 1,
    calls_per_day: body.calls_per_day ?? 200,
    model_tokens_per_day: body.model_tokens_per_day ?? 500_000,
    drift_min_calls: body.drift_min_calls ?? 20,
    enabled: body.enabled ? (1 as const) : (0 as const),
  };
}

function changed({
  calls_per_day,
  drift_min_calls,
  enabled,
  model_tokens_per_day,
  name,
  sample_rate,
}: Written) {
  return {
    ...(name !== undefined && { name }),
    ...(sample_rate !== undefined && { sample_rate }),
    ...(calls_per_day !== undefined && { calls_per_day }),
    ...(model_tokens_per_day !== undefined && { model_tokens_per_day }),
    ...(drift_min_calls !== undefined && { drift_min_calls }),
    ...(enabled !== undefined && { enabled: enabled ? (1 as const) : (0 as const) }),
  };
}

/** @throws ApiError INVALID_PARAMETER */
function readAssertions(assertions: WatchCreate['assertions'], watchId: string) {
  for (const [place, assertion] of assertions.entries()) {
    const problem = notWatchable(assertion);
    if (problem) throw ApiError.invalid(`/assertions/${place}${problem.path}`, problem.rule);
  }
  return toJson(assertionRows(watchId, assertions, new Set(), newId).map(assertionView));
}

/** @throws ApiError INVALID_PARAMETER */
function numberOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const number = toE164(text);
  if (number === null) throw ApiError.invalid('/phone_number', 'must be a phone number in E.164 form');
  return number;
}
