/** POST /v1/sip/register-now: sends a REGISTER at once and returns its outcome. */
import { plain } from '#shared/api/common.ts';
import { RegisteringNow, RegisterNow, RegisterNowRequest } from '#shared/api/sip.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { type App, orgOf, RateLimiter } from '../http/index.ts';
import { showWindow } from '../organizations/index.ts';
import { requireConfigurations, requireNumber } from './attach.ts';
import type { TrunkDeps } from './deps.ts';
import { registeringRecords } from './registration-rules.ts';
import { findRegistrations, registrationSubject } from './registrations-store.ts';
import { registrationView } from './views.ts';

/** An attempt that finishes within this time answers the request itself, ms. */
const registerWaitMs = 5_000;

/** Seconds between two attempts for one number. */
const registerNowGapS = 10;
/** Per number in 15 minutes. */
const mostRegisterNow = 20;
/** PBXs count wrong passwords and lock out clients that send many. */
const registerNowLimits = [
  { scope: 'register_now', limit: 1, windowSeconds: registerNowGapS },
  { scope: 'register_now_often', limit: mostRegisterNow, windowSeconds: 900 },
];

export function registerRoutes(app: App, services: TrunkDeps): void {
  const { announcements, clock, database, edges } = services;
  const { db } = database;
  const limiter = new RateLimiter(clock, services.sharedCounts.as('register now'));

  app.route({
    method: 'POST',
    url: '/v1/sip/register-now',
    config: {
      access: 'member',
      errors: [
        'REGISTRATION_NOT_CONFIGURED',
        'REGISTRAR_REQUIRED',
        'NUMBER_NOT_FOUND',
        'SIP_CONFIG_NOT_FOUND',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Register a number at its PBX now',
      body: RegisterNowRequest,
      response: { 200: RegisterNow, 202: RegisteringNow },
    },
    handler: async (request, reply) => {
      const orgId = orgOf(request);
      const { phone_number, configuration_id } = request.body;
      const number = requireNumber(phone_number, '/phone_number');
      const id = await registeringRecord(services, orgId, number, configuration_id);
      if (edges.count === 0) throw ApiError.unavailable('No edge is connected.', 5);
      const subject = `${orgId} ${number}`;
      const counted = await limiter.take(subject, registerNowLimits);
      showWindow(reply, counted);
      const orderId = newId();
      const outcomes = outcomesOf(announcements, orderId);
      try {
        const taken = await order(services, orderId, id).catch((error: unknown) => {
          limiter.giveBack(subject, registerNowLimits, counted.moment);
          throw error;
        });
        const finished = await outcomes.reach(taken, registerWaitMs);
        const last = (await findRegistrations(db, [id])).get(id);
        const registration = registrationView({ auth_mode: 'register' }, last);
        return reply.code(finished ? 200 : 202).send(plain({ configuration_id: id, finished, registration }));
      } finally {
        outcomes.close();
      }
    },
  });
}

/** @returns how many edges register */
async function order({ edges }: TrunkDeps, orderId: string, trunkId: string): Promise<number> {
  const command = { kind: 'registration.try', order_id: orderId, trunk_id: trunkId } as const;
  const answers = await Promise.allSettled(edges.all.map((edge) => edge.command(command)));
  const [refusal] = answers.filter((answer) => answer.status === 'rejected');
  const taken = answers.filter((answer) => answer.status === 'fulfilled').length;
  if (taken === 0 && refusal) throw refusal.reason;
  return taken;
}

/** Collects the outcomes of one order from now on: each registering edge reports its own. */
function outcomesOf(announcements: TrunkDeps['announcements'], orderId: string) {
  let received = 0;
  const subject = registrationSubject(orderId);
  const stop = announcements.on(subject, () => {
    received++;
  });
  return {
    /** Waits until there are `wanted` outcomes, at most `ms`. @returns whether there are */
    reach: async (wanted: number, ms: number): Promise<boolean> => {
      const limit = announcements.wait(`${subject} limit`, ms);
      const stopWatching = announcements.on(subject, () => {
        if (received >= wanted) limit.cancel();
      });
      if (received >= wanted) limit.cancel();
      await limit.ended;
      stopWatching();
      return received >= wanted;
    },
    close: stop,
  };
}

/**
 * The registering record of the number: the given one, else the first.
 * @throws ApiError NUMBER_NOT_FOUND, SIP_CONFIG_NOT_FOUND, REGISTRATION_NOT_CONFIGURED, REGISTRAR_REQUIRED
 */
async function registeringRecord(
  { database }: TrunkDeps,
  orgId: string,
  number: string,
  wanted: string | undefined,
): Promise<string> {
  const rows = await requireConfigurations(database.db, orgId, number);
  if (wanted !== undefined && !rows.some(({ id }) => id === wanted))
    throw ApiError.of('SIP_CONFIG_NOT_FOUND');
  const isMeant = ({ id }: { id: string }) => wanted === undefined || id === wanted;
  if (!rows.some((row) => row.auth_mode === 'register' && isMeant(row)))
    throw ApiError.of('REGISTRATION_NOT_CONFIGURED');
  const placed = registeringRecords(rows).find(isMeant);
  if (!placed) throw ApiError.of('REGISTRAR_REQUIRED');
  return placed.id;
}
