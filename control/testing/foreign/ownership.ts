/**
 * Proof that a customer owns the phone number of an agent of others: an edge calls it, keys a code and says it, and the
 * customer sends the code back. The operator can allow it instead.
 *
 *     POST …/ownership ──call: the keys 471102, then "4, 7, 1, 1, 0, 2"──> agent
 *     POST …/ownership/confirm  <──471102, from its owner
 */
import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import {
  ForeignAgentAnswer,
  ForeignAgentPath,
  OwnershipCall,
  OwnershipCode,
} from '#shared/api/agent-testing/foreign-agents.ts';
import { testing } from '#shared/api/agent-testing/wrapping.ts';
import { NoMembers } from '#shared/api/common.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { actorOf } from '../../audit/index.ts';
import type { Db, TestAgentRow } from '../../db/index.ts';
import { type App, orgOf, RateLimiter } from '../../http/index.ts';
import { isoTime, showWindow } from '../../organizations/index.ts';
import type { Caller, CallerMove } from '../callers/ports.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { outsideOf } from '../mocks/declared.ts';
import { Recorder } from '../mocks/mocks.ts';
import { converseOverCall } from '../over-call/over-call.ts';
import { callSettings } from '../over-call/settings.ts';
import { calledAgent, hasSameTelephone, telephoneOf } from './called.ts';
import { foreignAgentView, settingsOf } from './rules.ts';
import { requireForeignAgent } from './store.ts';

export const ownershipLimits = {
  /** How long a code counts, ms. */
  codeMs: 15 * 60_000,
  /** Wrong codes until it counts no more. */
  tries: 5,
  /** Minutes that the call may last. */
  maxMinutes: 2,
};

/** Of one organization. */
const ofOrganization = { scope: 'ownership_calls', limit: 20, windowSeconds: 86400 };
/** Of one target, of all organizations together: strangers are not rung again and again. */
const ofTarget = { scope: 'ownership_calls_to_target', limit: 3, windowSeconds: 3600 };

const base = '/v1/agent-testing/agents';
const codeWasSaid = 'The code was said.';

export function ownershipRoutes(app: App, services: TestingDeps): void {
  const { clock, database, secrets } = services;
  const { db } = database;
  const targets = new RateLimiter(clock, services.sharedCounts.as('ownership calls'));

  app.route({
    method: 'POST',
    url: `${base}/:id/ownership`,
    config: {
      access: 'member',
      limits: [ofOrganization],
      errors: ['TEST_AGENT_NOT_FOUND', 'NO_OUTBOUND_ROUTE', 'SERVICE_UNAVAILABLE', 'RATE_LIMITED'],
    },
    schema: {
      summary: 'Call an agent of others and say a code that proves its ownership',
      params: ForeignAgentPath,
      body: NoMembers,
      response: { 200: OwnershipCall },
    },
    handler: async (request, reply) => {
      const orgId = orgOf(request);
      const asked = await requireCalled(db, orgId, request.params.id);
      const { target } = await calledAgent(db, asked, secrets);
      services.edges.leastLoaded(null, edgeProtocol.testsOthers);
      const telephone = telephoneOf({ from: target.number, to: target.to ?? '' });
      const window = await targets.take(telephone, [ofTarget]);
      if (window.refused) showWindow(reply, window);
      const code = String(randomInt(0, 1_000_000)).padStart(6, '0');
      const proof_until = new Date(clock.now() + ownershipLimits.codeMs).toISOString();
      const agent = await db.transaction().execute(async (trx) => {
        const agent = await requireCalled(trx, orgId, request.params.id);
        // The code is said to the telephone that was asked for, and must prove no other.
        if (!hasSameTelephone(settingsOf(agent), settingsOf(asked)))
          throw ApiError.invalid('/id', 'got another telephone meanwhile: have that one called');
        const proof = { proof_hash: codeHash(agent.id, code), proof_until, proof_tries: 0 };
        await trx.updateTable('test_agents').set(proof).where('id', '=', agent.id).execute();
        await recordTestingChange(trx, services, actorOf(request), {
          orgId,
          subject: agent.id,
          action: 'agent_prove',
          fields: ['ownership_call'],
        });
        return agent;
      });
      void sayCode(services, agent, code, request.log);
      return testing({ expires_at: proof_until });
    },
  });

  app.route({
    method: 'POST',
    url: `${base}/:id/ownership/confirm`,
    config: { access: 'member', errors: ['TEST_AGENT_NOT_FOUND'] },
    schema: {
      summary: 'Send back the code that an agent of others was told',
      params: ForeignAgentPath,
      body: OwnershipCode,
      response: { 200: ForeignAgentAnswer },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const { code } = request.body;
      const now = isoTime(clock);
      const proven = await db.transaction().execute(async (trx) => {
        const agent = await requireCalled(trx, orgId, request.params.id);
        if (isCode(agent, code, now)) return prove(trx, services, agent, actorOf(request));
        // Counted also when the answer is an error, so it must not be rolled back.
        const proof_tries = agent.proof_tries + 1;
        await trx.updateTable('test_agents').set({ proof_tries }).where('id', '=', agent.id).execute();
        return null;
      });
      if (proven) return testing(foreignAgentView(proven, secrets));
      throw ApiError.invalid(
        '/code',
        'is not the code of the last call, or that counts no more: have it called again',
      );
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/admin/test-agents/:id/allow',
    config: { access: 'operator', errors: ['TEST_AGENT_NOT_FOUND'] },
    schema: {
      summary: 'Allow that an agent of others is called, without a proof of its ownership',
      params: ForeignAgentPath,
      body: NoMembers,
      response: { 200: ForeignAgentAnswer },
    },
    handler: async (request) => {
      const proven = await db.transaction().execute(async (trx) => {
        const agent = await trx
          .selectFrom('test_agents')
          .selectAll()
          .where('id', '=', request.params.id)
          .executeTakeFirst();
        if (!agent) throw ApiError.of('TEST_AGENT_NOT_FOUND');
        return prove(trx, services, agent, actorOf(request));
      });
      return testing(foreignAgentView(proven, secrets));
    },
  });
}

/** @throws ApiError TEST_AGENT_NOT_FOUND, INVALID_PARAMETER for one without a telephone */
async function requireCalled(db: Db, orgId: string, id: string): Promise<TestAgentRow> {
  const agent = await requireForeignAgent(db, orgId, id);
  if (settingsOf(agent).format !== 'call')
    throw ApiError.invalid('/id', 'only an agent of format call needs a proof of its ownership');
  return agent;
}

async function prove(
  trx: Db,
  services: TestingDeps,
  agent: TestAgentRow,
  by: ReturnType<typeof actorOf>,
): Promise<TestAgentRow> {
  const change = {
    proven_at: isoTime(services.clock),
    proof_hash: null,
    proof_until: null,
    proof_tries: 0,
  };
  await trx.updateTable('test_agents').set(change).where('id', '=', agent.id).execute();
  await recordTestingChange(trx, services, by, {
    orgId: agent.org_id,
    subject: agent.id,
    action: 'agent_prove',
    fields: ['proven_at'],
  });
  return { ...agent, ...change };
}

function isCode(
  { id, proof_hash, proof_tries, proof_until }: TestAgentRow,
  code: string,
  now: string,
): boolean {
  if (proof_hash === null || proof_until === null || proof_until <= now) return false;
  if (proof_tries >= ownershipLimits.tries) return false;
  return timingSafeEqual(Buffer.from(proof_hash, 'hex'), Buffer.from(codeHash(id, code), 'hex'));
}

/** As it is stored, hex. */
export function codeHash(id: string, code: string): string {
  return createHash('sha256').update(`${id} ${code}`).digest('hex');
}

/** Never rejects: who waits for the call hears it. */
async function sayCode(
  services: TestingDeps,
  agent: TestAgentRow,
  code: string,
  log: FastifyBaseLogger,
): Promise<void> {
  const { clock, conversations, database, secrets } = services;
  const { webhook, tools } = conversations;
  const runId = newId();
  const moves = movesOf(code);
  const tooLong = new AbortController();
  const timer = clock.after(ownershipLimits.maxMinutes * 60_000, () => tooLong.abort());
  try {
    const { target, wish } = await calledAgent(database.db, agent, secrets);
    await converseOverCall(
      { ...services, missed: () => undefined },
      {
        runId,
        orgId: agent.org_id,
        agent: null,
        target,
        wish,
        caller: callerWith(moves),
        recorder: new Recorder({ outside: outsideOf(null), agent: null, clock, webhook, tools }),
        variables: {},
        settings: callSettings(null),
        startNodeId: null,
        seed: 0,
        maxTurns: moves.length,
        maxMinutes: ownershipLimits.maxMinutes,
        signal: tooLong.signal,
        onLine: () => undefined,
      },
    );
  } catch (error) {
    log.warn(
      { err: error, test_agent: agent.id, run: runId },
      'the code of an agent of others could not be said',
    );
  } finally {
    timer.cancel();
  }
}

function movesOf(code: string): readonly CallerMove[] {
  const text = `This is a call from a test service. The code that allows tests is: ${[...code].join(', ')}.`;
  return [
    // First, because an agent that answers what it hears may hang up.
    { type: 'keys', keys: code },
    { type: 'say', text },
    { type: 'say', text, leaves: codeWasSaid },
  ];
}

function callerWith(moves: readonly CallerMove[]): Caller {
  const left = [...moves];
  return {
    evaluator: { provider: 'embedded', model: 'ownership', deterministic: true },
    next: async () => left.shift() ?? { type: 'hangup', reason: codeWasSaid },
  };
}
