/** Whether numbers can be ported: from the numbering plan, the carrier where it knows more, and current holders. */
import type { FastifyBaseLogger } from 'fastify';
import type { PortCheckResult } from '#shared/api/porting.ts';
import { ApiError } from '#shared/errors.ts';
import type { Carrier } from './carrier.ts';
import type { PortingDeps } from './deps.ts';
import { portabilityOf } from './portability-rules.ts';
import { holdersOf } from './store.ts';

const retryAfter = 30;

/** Results in the order of the numbers. @throws ApiError SERVICE_UNAVAILABLE when the carrier is unavailable */
export type CheckPortability = (numbers: readonly string[]) => Promise<PortCheckResult[]>;

export function portabilityCheck(
  services: PortingDeps,
  carrier: Carrier | null,
  log: Pick<FastifyBaseLogger, 'warn'>,
): CheckPortability {
  const { countries } = services.limits.porting;
  return async (numbers) => {
    const ofPlan = numbers.map((number) => portabilityOf(number, countries));
    const asked = ofPlan.filter(({ portable }) => portable).map(({ phone_number }) => phone_number);
    const known = carrier && asked.length > 0 ? await ask(carrier, asked, log) : new Map();
    const holders = await holdersOf(services.database.db, numbers);
    return ofPlan.map((result): PortCheckResult => {
      const better = { ...result, ...known.get(result.phone_number) };
      if (!better.portable || !holders.has(result.phone_number)) return better;
      return { ...better, portable: false, reason: 'The number is active on this service already.' };
    });
  };
}

async function ask(
  carrier: Carrier,
  numbers: readonly string[],
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<ReadonlyMap<string, Partial<PortCheckResult>>> {
  try {
    return await carrier.check([...new Set(numbers)]);
  } catch (error) {
    log.warn({ err: error }, 'the carrier could not be asked about numbers');
    throw ApiError.unavailable('The carrier cannot be asked now; try again.', retryAfter);
  }
}
