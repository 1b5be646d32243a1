/** POST /v1/calls: validates an order, stores the call, and has an edge place it (contract 9.1). */
import type { FastifyReply } from 'fastify';
import type { CallOrder } from '#shared/api/calls.ts';
import { toE164 } from '#shared/e164.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import { ApiError } from '#shared/errors.ts';
import { type Db, fromJson, type SipConfigurationRow } from '../db/index.ts';
import { isPublished, Unanswered } from '../edge-link/index.ts';
import { recordEvents } from '../events/index.ts';
import { RateLimiter } from '../http/index.ts';
import { findNumber, readDialedTarget } from '../numbers/index.ts';
import {
  findOrganization,
  isoTime,
  requireConnection,
  showWindow,
  storedConnections,
} from '../organizations/index.ts';
import { findPathway, findVersion, resolveVersion } from '../pathways/index.ts';
import { personaAgent } from '../personas/index.ts';
import { agentTools, firstUnknownTool } from '../tools/index.ts';
import { findConfigurations, listConfigurations, noOutboundRoute, regionWish } from '../trunks/index.ts';
import type { CallDeps } from './deps.ts';
import { happeningsOf } from './happenings.ts';
import { failQueuedCall } from './lost-store.ts';
import { checkOrder, orderedAgent, orderSettings, type PlaceCommand, queuedRow } from './order-rules.ts';
import { findCall, insertCall } from './store.ts';

/** The same destination may be called once in this time (contract 1.6). */
const perDestination = { scope: 'destination', limit: 1, windowSeconds: 10 };

export class CallPlacer {
  readonly #services: CallDeps;
  readonly #destinations: RateLimiter;

  constructor(services: CallDeps) {
    this.#services = services;
    this.#destinations = new RateLimiter(services.clock, services.sharedCounts.as('destinations'));
  }

  /**
   * Returns the id of the call once an edge has accepted it.
   * @param work gives the call its id; a request repeated after a crash does not place the call again
   * @throws ApiError those of the contract's table; RATE_LIMITED for the destination; SERVICE_UNAVAILABLE when no edge
   * is connected, or the edge did not accept the call, which is then failed
   */
  async place(
    orgId: string,
    order: CallOrder,
    reply: FastifyReply,
    work: { readonly id: string; readonly again: boolean },
  ): Promise<string> {
    const { database, catalogue, edges, clock, allowedTargets } = this.#services;
    // An edge may have the call although the client got no answer: it is not placed again, and its record has the
    // outcome.
    if (work.again && (await findCall(database.db, orgId, work.id))) return work.id;
    checkOrder(order, allowedTargets);
    const to = readDialedTarget(order.phone_number, '/phone_number', allowedTargets);
    // References in the order are checked before routes (contract 1.3).
    const routes = await findRoutes(database.db, orgId, order.from);
    const unknown = await firstUnknownTool(database.db, orgId, order.tools ?? []);
    if (unknown >= 0) throw ApiError.of('TOOL_NOT_FOUND', { path: `/tools/${unknown}` });
    if (order.realtime)
      requireConnection(
        storedConnections(await findOrganization(database.db, orgId)),
        order.realtime.connection,
      );
    const agent = await findAgent(database.db, orgId, order);
    const [trunk] = routes;
    if (!trunk) throw noOutboundRoute(order.from, '/from');
    const edge = edges.leastLoaded(await regionWish(database.db, trunk));
    const destination = `${orgId} ${to}`;
    const window = await this.#destinations.take(destination, [perDestination]);
    if (window.refused) showWindow(reply, window);
    const command: PlaceCommand = {
      kind: 'call.place',
      call_id: work.id,
      org_id: orgId,
      number: trunk.number,
      to,
      agent,
      variables: {},
      precall_dtmf: order.precall_dtmf_sequence ?? null,
      voicemail: {
        action: order.voicemail?.action ?? 'hangup',
        message: order.voicemail?.message ?? null,
      },
    };
    const row = queuedRow(command, order, trunk.id, edge.edgeId, isoTime(clock));
    try {
      // Stored before the new edge configuration is built, which then has the version that the call needs.
      await catalogue.change(async (db, altered) => {
        await insertCall(db, row);
        await recordEvents(db, happeningsOf(row, null, row.started_at));
        const { pathway_id: id, pathway_version: version } = row;
        if (id === null || version === null || version === 0) return;
        // Most calls name a version that the edges have: building all graphs of a pathway is not for each call.
        if (!(await isPublished(db, id, version))) altered.pathways.add(id);
      });
      await edge.command(command).catch(async (error: unknown) => {
        const detail = error instanceof Error ? error.message : String(error);
        await failQueuedCall(database.db, row.id, isoTime(clock), detail);
        throw error;
      });
    } catch (error) {
      // If the edge did not answer, the phone may have rung: do not ring it again at once.
      if (!(error instanceof Unanswered))
        this.#destinations.giveBack(destination, [perDestination], window.moment);
      throw error;
    }
    return row.id;
  }
}

/** The outbound records of `from`, else of all numbers; the primary record of the first number comes first. */
async function findRoutes(db: Db, orgId: string, from: string | undefined): Promise<SipConfigurationRow[]> {
  const rows = from === undefined ? await listConfigurations(db, orgId) : await ofNumber(db, orgId, from);
  return rows.filter((row) => row.direction === 'outbound');
}

async function ofNumber(db: Db, orgId: string, from: string): Promise<SipConfigurationRow[]> {
  const number = toE164(from);
  if (number === null) throw ApiError.invalid('/from', 'must be an E.164 number of 7 to 15 digits');
  if (!(await findNumber(db, orgId, number))) throw ApiError.of('NUMBER_NOT_FOUND');
  return findConfigurations(db, orgId, number);
}

/** @throws ApiError PERSONA_NOT_FOUND and those of findPathwayVersion */
async function findAgent(db: Db, orgId: string, order: CallOrder): Promise<AgentSettings> {
  if (order.persona_id === undefined) {
    const version = await findPathwayVersion(db, orgId, order);
    return orderedAgent(order, version, await agentTools(db, orgId, order.tools ?? []));
  }
  const agent = await personaAgent(db, orgId, order.persona_id, orderSettings(order));
  if (!agent) throw ApiError.of('PERSONA_NOT_FOUND');
  return agent;
}

/** @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, INVALID_PARAMETER for an unknown start node */
async function findPathwayVersion(db: Db, orgId: string, order: CallOrder): Promise<number> {
  const { pathway_id, pathway_version, start_node_id } = order;
  if (pathway_id === undefined) return 0;
  const pathway = await findPathway(db, orgId, pathway_id);
  if (!pathway) throw ApiError.of('PATHWAY_NOT_FOUND');
  const published = { production: pathway.production_version, staging: pathway.staging_version };
  const wanted = pathway_version === undefined ? null : String(pathway_version);
  const version = resolveVersion(wanted, published);
  const graph = version === 0 ? pathway : await findVersion(db, pathway_id, version);
  if (!graph) throw ApiError.of('VERSION_NOT_FOUND');
  const nodes: { id?: unknown }[] = fromJson(graph.nodes);
  if (start_node_id !== undefined && !nodes.some((node) => node.id === start_node_id)) {
    throw ApiError.invalid('/start_node_id', `the pathway has no node "${start_node_id}"`);
  }
  return version;
}
