/** /v1/sip/alerts: raised alerts, and a test of the channels (contract 3.5). */
import { AlertPage, AlertQuery, AlertTest, AlertTested, type AlertView } from '#shared/api/alerts.ts';
import { plain } from '#shared/api/common.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import type { AlertRow } from '../db/index.ts';
import { type App, nextAfter, orgOf } from '../http/index.ts';
import type { AlertDeps } from './deps.ts';
import { findAlert, listAlerts } from './store.ts';
import { type TestTools, testAlerts } from './test-notice.ts';

const defaultPage = 50;

export function alertRoutes(app: App, services: AlertDeps, tools: TestTools): void {
  const { db } = services.database;
  const ending = new AbortController();
  app.addHook('preClose', async () => ending.abort(new Error('the control plane is shutting down')));

  app.route({
    method: 'GET',
    url: '/v1/sip/alerts',
    config: { access: 'read', errors: ['INVALID_CURSOR'] },
    schema: {
      summary: 'Alerts of trunks, and of watches over calls, newest first',
      querystring: AlertQuery,
      response: { 200: AlertPage },
    },
    handler: async (request) => {
      const { before, kind, limit = defaultPage, phone_number, state } = request.query;
      const orgId = orgOf(request);
      const after = before === undefined ? undefined : await findAlert(db, orgId, before);
      if (before !== undefined && !after) throw unknownCursor();
      const filter = {
        ...(phone_number !== undefined && { number: numberOf(phone_number) }),
        ...(kind !== undefined && { kind }),
        ...(state !== undefined && { state }),
        ...(after && { after }),
      };
      const rows = await listAlerts(db, orgId, filter, limit);
      return plain({ alerts: rows.map(alertView), next: nextAfter(rows, limit, ({ id }) => id) });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/sip/alerts/test',
    config: {
      access: 'member',
      limits: [{ scope: 'alert_tests', limit: 5, windowSeconds: 60 }],
      errors: ['NO_ALERT_RECIPIENTS', 'NUMBER_NOT_FOUND', 'SIP_CONFIG_NOT_FOUND'],
    },
    schema: {
      summary: 'Send a test notice over the alert channels of a configuration',
      description:
        'Over each enabled channel at once, whether or not alerts are enabled. The webhook gets an event of ' +
        'type sip.alert.test.',
      body: AlertTest,
      response: { 200: AlertTested },
    },
    handler: async (request) =>
      plain({ channels: await testAlerts(services, tools, orgOf(request), request.body, ending.signal) }),
  });
}

function unknownCursor(): ApiError {
  return ApiError.of(
    'INVALID_CURSOR',
    { path: '?before' },
    'The cursor does not match an alert of this list.',
  );
}

function numberOf(text: string): string {
  const number = toE164(text);
  if (number === null) throw ApiError.invalid('?phone_number', 'must be an E.164 number of 7 to 15 digits');
  return number;
}

function alertView(row: AlertRow): AlertView {
  const { id, org_id: _, number, calm_evaluations: __, configuration_id, direction, ...rest } = row;
  const isOfWatch = row.kind === 'watch_drift';
  return {
    alert_id: id,
    state: row.resolved_at === null ? 'open' : 'resolved',
    phone_number: number === '' ? null : number,
    configuration_id: isOfWatch ? null : configuration_id,
    watch_id: isOfWatch ? configuration_id : null,
    direction: isOfWatch ? null : direction,
    ...rest,
  };
}
