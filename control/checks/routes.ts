/** /v1/sip/discover and /v1/sip/test-call: checks of a trunk by an edge (contract 3.1 and 3.2). */

import { requireAllowedHost, targetNotAllowed } from '#shared/allowed-host.ts';
import { plain } from '#shared/api/common.ts';
import {
  Discovered,
  Discovering,
  DiscoveryQuery,
  DiscoveryRequest,
  type DiscoveryView,
  TestCallQuery,
  TestCallRequest,
  TestCallStarted,
  TestCallView,
} from '#shared/api/trunk-checks.ts';
import { queuedTestCall } from '#shared/edge-protocol/reports.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { toJson } from '../db/index.ts';
import { type App, orgOf } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import { regionWish, requireConfigurations, requireNumber } from '../trunks/index.ts';
import type { CheckDeps } from './deps.ts';
import {
  dialledUser,
  discoveryTarget,
  discoveryView,
  failedTestCall,
  testCallState,
  unknownYet,
} from './rules.ts';
import {
  deleteDiscovery,
  discoveryKeptMs,
  findDiscovery,
  findTestCall,
  insertDiscovery,
  insertTestCall,
  openDiscoveries,
  setTestCall,
} from './store.ts';

/** A discovery that finishes within this time answers the request itself. */
const discoveryWaitMs = 2_000;

export function checkRoutes(app: App, services: CheckDeps): void {
  const { clock, database } = services;
  const { db } = database;

  app.route({
    method: 'POST',
    url: '/v1/sip/discover',
    config: {
      access: 'member',
      errors: ['TARGET_NOT_ALLOWED', 'DISCOVERY_IN_PROGRESS', 'SERVICE_UNAVAILABLE'],
    },
    schema: {
      summary: 'Discover the SIP capabilities of a host',
      body: DiscoveryRequest,
      response: { 200: Discovered, 202: Discovering },
    },
    handler: async (request, reply) => {
      const view = await discover(services, orgOf(request), request.body);
      return reply.code(view.status === 'running' ? 202 : 200).send(plain(view));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/discover/status',
    config: { access: 'read', errors: ['DISCOVERY_NOT_FOUND'] },
    schema: {
      summary: 'Status of a discovery',
      querystring: DiscoveryQuery,
      response: { 200: Discovered },
    },
    handler: async (request) => {
      const row = await findDiscovery(db, orgOf(request), request.query.discovery_id);
      const view = row && discoveryView(row, clock.now());
      const ended = view?.completed_at ? Date.parse(view.completed_at) : clock.now();
      if (!view || ended + discoveryKeptMs <= clock.now()) throw ApiError.of('DISCOVERY_NOT_FOUND');
      return plain(view);
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/sip/test-call',
    config: {
      access: 'member',
      limits: [{ scope: 'test_calls', limit: 10, windowSeconds: 900 }],
      errors: ['OUTBOUND_NOT_CONFIGURED', 'NUMBER_NOT_FOUND', 'SIP_CONFIG_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
    },
    schema: {
      summary: 'Place a test call over a trunk',
      body: TestCallRequest,
      response: { 200: TestCallStarted },
    },
    handler: async (request) => {
      const call_id = await startTestCall(services, orgOf(request), request.body);
      return plain({ call_id, message: 'Test call started' });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/test-call/status',
    config: { access: 'read', errors: ['TEST_CALL_NOT_FOUND'] },
    schema: {
      summary: 'Status of a test call',
      querystring: TestCallQuery,
      response: { 200: TestCallView },
    },
    handler: async (request) => {
      const row = await findTestCall(db, clock, orgOf(request), request.query.call_id);
      if (!row) throw ApiError.of('TEST_CALL_NOT_FOUND');
      return plain({ call_id: row.id, ...testCallState(row, clock.now()) });
    },
  });
}

async function discover(
  services: CheckDeps,
  orgId: string,
  request: DiscoveryRequest,
): Promise<DiscoveryView> {
  const { announcements, clock, database, edges } = services;
  const target = discoveryTarget(request);
  requireAllowedHost(target.host, '/host', services.allowedTargets);
  const edge = edges.leastLoaded();
  const id = `disc_${newId()}`;
  await database.db.transaction().execute(async (db) => {
    const open = await openDiscoveries(db, orgId);
    const running = open.find((row) => discoveryView(row, clock.now()).status === 'running');
    if (running) throw ApiError.of('DISCOVERY_IN_PROGRESS', { discovery_id: running.id });
    const result = toJson(unknownYet);
    const started_at = isoTime(clock);
    await insertDiscovery(db, {
      id,
      org_id: orgId,
      host: target.host,
      result,
      started_at,
      completed_at: null,
    });
  });
  const finished = announcements.wait(id, discoveryWaitMs);
  try {
    await edge.command({ kind: 'discovery.run', discovery_id: id, ...target });
    await finished.ended;
  } catch (error) {
    await deleteDiscovery(database.db, id);
    throw error;
  } finally {
    finished.cancel();
  }
  const row = await findDiscovery(database.db, orgId, id);
  if (!row) throw ApiError.of('DISCOVERY_NOT_FOUND');
  const view = discoveryView(row, clock.now());
  if (view.error?.code === 'TARGET_NOT_ALLOWED')
    throw ApiError.many([targetNotAllowed('/host', target.host, view.error.message)]);
  return view;
}

async function startTestCall(services: CheckDeps, orgId: string, request: TestCallRequest): Promise<string> {
  const { clock, database, edges } = services;
  const number = requireNumber(request.phone_number, '/phone_number');
  const to = request.to === undefined ? number : dialledUser(request.to);
  const rows = await requireConfigurations(database.db, orgId, number);
  const outbound = rows.filter((row) => row.direction === 'outbound');
  const { configuration_id, max_seconds = 10, dtmf = null } = request;
  const trunk = outbound.find((row) => configuration_id === undefined || row.id === configuration_id);
  if (!trunk) throw ApiError.of(configuration_id ? 'SIP_CONFIG_NOT_FOUND' : 'OUTBOUND_NOT_CONFIGURED');
  const edge = edges.leastLoaded(await regionWish(database.db, trunk));
  const id = `tc_${newId()}`;
  const now = isoTime(clock);
  const state = toJson(queuedTestCall);
  await insertTestCall(database.db, { id, org_id: orgId, state, created_at: now, updated_at: now });
  try {
    await edge.command({
      kind: 'test_call.run',
      test_call_id: id,
      org_id: orgId,
      number,
      to,
      trunk_id: trunk.id,
      max_seconds,
      dtmf,
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const diagnosis = `The edge did not take the test call: ${problem}`;
    await setTestCall(database.db, id, failedTestCall(queuedTestCall, problem, diagnosis), isoTime(clock));
    throw error;
  }
  return id;
}
