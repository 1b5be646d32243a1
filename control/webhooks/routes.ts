/** /v1/org/webhook-deliveries: what was sent to the organization's URLs, and what became of it (contract 13.1). */
import { NoMembers, plain } from '#shared/api/common.ts';
import {
  DeliveriesQuery,
  DeliveryAgain,
  DeliveryList,
  DeliveryOne,
  DeliveryPath,
  type DeliveryView,
} from '#shared/api/webhooks.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf, recordChange } from '../audit/index.ts';
import { type App, nextAfter, orgOf } from '../http/index.ts';
import { deliverAgain, findDelivery, type ListedDelivery, listDeliveries } from './deliveries-store.ts';
import type { WebhookRouteDeps } from './deps.ts';
import { webhookSubject } from './store.ts';

const defaultPage = 50;
const url = '/v1/org/webhook-deliveries';

export function webhookRoutes(app: App, { announcements, clock, database }: WebhookRouteDeps): void {
  const { db } = database;

  app.route({
    method: 'GET',
    url,
    config: { access: 'read', errors: ['INVALID_CURSOR'] },
    schema: {
      summary: 'Webhook deliveries of the last days, newest first, without their bodies',
      querystring: DeliveriesQuery,
      response: { 200: DeliveryList },
    },
    handler: async (request) => {
      const { before, limit = defaultPage, state } = request.query;
      const orgId = orgOf(request);
      const after = before === undefined ? undefined : await findDelivery(db, orgId, before);
      if (before !== undefined && !after) throw ApiError.of('INVALID_CURSOR', { path: '?before' });
      const rows = await listDeliveries(db, orgId, { state, ...(after && { after }) }, limit);
      return plain({ deliveries: rows.map(deliveryView), next: nextAfter(rows, limit, ({ id }) => id) });
    },
  });

  app.route({
    method: 'GET',
    url: `${url}/:id`,
    config: { access: 'read', errors: ['DELIVERY_NOT_FOUND'] },
    schema: {
      summary: 'One webhook delivery with its body',
      params: DeliveryPath,
      response: { 200: DeliveryOne },
    },
    handler: async (request) => {
      const row = await findDelivery(db, orgOf(request), request.params.id);
      if (!row) throw ApiError.of('DELIVERY_NOT_FOUND');
      return plain({ delivery: { ...deliveryView(row), body: row.body } });
    },
  });

  app.route({
    method: 'POST',
    url: `${url}/:id/redeliver`,
    config: {
      access: 'member',
      limits: [{ scope: 'redeliveries', limit: 60, windowSeconds: 60 }],
      errors: ['DELIVERY_NOT_FOUND', 'DELIVERY_WAITING'],
    },
    schema: {
      summary: 'Send a webhook again that was delivered or given up',
      description: 'It has the same id and body, and is retried as the first time.',
      params: DeliveryPath,
      body: NoMembers,
      response: { 200: DeliveryAgain },
    },
    handler: async (request) => {
      const orgId = orgOf(request);
      const { id } = request.params;
      const row = await db.transaction().execute(async (trx) => {
        const again = await deliverAgain(trx, clock, orgId, id);
        const change = { orgId, area: 'webhooks', subject: id, action: 'redeliver' };
        await recordChange(trx, clock, actorOf(request), change);
        return again;
      });
      announcements.announce(webhookSubject);
      return plain({ delivery: deliveryView(row) });
    },
  });
}

function deliveryView(row: ListedDelivery): DeliveryView {
  return {
    id: row.id,
    type: row.type,
    url: row.url,
    subject_id: row.subject_id,
    state: row.next_attempt_at !== null ? 'waiting' : row.delivered_at === null ? 'given_up' : 'delivered',
    created_at: row.created_at,
    attempts: row.attempts,
    first_attempt_at: row.first_attempt_at,
    next_attempt_at: row.next_attempt_at,
    delivered_at: row.delivered_at,
    last_status: row.last_status,
    last_error: row.last_error,
  };
}
