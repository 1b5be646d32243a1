/**
 * The webhook of the carrier's porting API. It only says which order to look at; the order itself is then queried, so a
 * late, repeated or forged event changes nothing.
 */
import { Value } from 'typebox/value';
import { plain } from '#shared/api/common.ts';
import { CarrierEvent, CarrierEventTaken } from '#shared/api/porting.ts';
import { ApiError } from '#shared/errors.ts';
import type { App } from '../http/index.ts';
import { isSigned } from './carrier-rules.ts';
import type { PortingDeps } from './deps.ts';
import { hurryOrder, orderSubject } from './orders-store.ts';

export function carrierRoutes(app: App, services: PortingDeps): void {
  const { carrier, webhookSecret } = services.config.porting;
  if (carrier === null || webhookSecret === null) return;
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers();
    // The signature covers the raw bytes.
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
      done(null, text),
    );
    scope.route({
      method: 'POST',
      url: '/v1/carrier/porting-events',
      config: { access: 'public', errors: ['AUTH_FAILURE', 'INVALID_PARAMETER', 'INVALID_JSON'] },
      schema: {
        summary: 'An order at the carrier has changed',
        description:
          'For the carrier. `X-Webhook-Signature` is the hex HMAC-SHA256 of `<X-Webhook-Timestamp>.<body>`.',
        body: CarrierEvent,
        response: { 200: CarrierEventTaken },
      },
      validatorCompiler: () => (value: unknown) => ({ value }),
      handler: async (request) => {
        const text: unknown = request.body;
        const body = typeof text === 'string' ? text : '';
        const now = services.clock.now();
        const [timestamp, signature] = ['x-webhook-timestamp', 'x-webhook-signature'].map((name) => {
          const value = request.headers[name];
          return typeof value === 'string' ? value : undefined;
        });
        if (!isSigned(body, timestamp, signature, webhookSecret, now)) throw ApiError.of('AUTH_FAILURE');
        const event = readEvent(body);
        await hurryOrder(services.database.db, event, new Date(now).toISOString());
        services.announcements.announce(orderSubject);
        return plain({ received: true as const });
      },
    });
  });
}

/** The id of the order. @throws ApiError INVALID_JSON, INVALID_PARAMETER */
function readEvent(text: string): string {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    throw ApiError.of('INVALID_JSON');
  }
  if (!Value.Check(CarrierEvent, event)) throw ApiError.invalid('/order_id', 'must be text');
  return event.order_id;
}
