/** /v1/sip/calls: the call log and the SIP traces (contract 3.4). */
import { setImmediate } from 'node:timers/promises';
import { plain } from '#shared/api/common.ts';
import {
  CallLogOne,
  CallLogPage,
  CallLogQuery,
  LoggedCallPath,
  Trace,
  type TracedMessage,
} from '#shared/api/sip-calls.ts';
import { ApiError } from '#shared/errors.ts';
import { redactSip } from '#shared/sip-redaction.ts';
import type { CallRow, Db } from '../db/index.ts';
import { type App, orgOf } from '../http/index.ts';
import { aggregateRoutes } from './aggregates-routes.ts';
import { commonFilter, pageOfCalls } from './call-pages.ts';
import type { SearchFilter } from './call-search.ts';
import type { CallDeps } from './deps.ts';
import type { CallFilter } from './log-store.ts';
import { requireCall } from './logged-call.ts';
import { measuredRoutes } from './measured-routes.ts';
import { outcomes } from './outcome.ts';
import { writePcap } from './pcap.ts';
import { refusedRoutes } from './refused-routes.ts';
import { callLogEntry } from './rules.ts';
import { findTrace } from './store.ts';

/** Characters redacted before yielding to other requests. */
const charsAtOnce = 256 * 1024;

export function sipCallRoutes(app: App, services: CallDeps): void {
  const { db } = services.database;
  aggregateRoutes(app, services);
  measuredRoutes(app, services);
  refusedRoutes(app, services);
  app.route({
    method: 'GET',
    url: '/v1/sip/calls',
    config: { access: 'read', errors: ['INVALID_CURSOR'] },
    schema: {
      summary: 'The call log, newest first',
      querystring: CallLogQuery,
      response: { 200: CallLogPage },
    },
    handler: async (request) => {
      const { rows, next } = await pageOfCalls(db, orgOf(request), callFilter(request.query), request.query);
      return plain({ calls: rows.map(callLogEntry), next });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/calls/:call_id',
    config: { access: 'read', errors: ['CALL_NOT_FOUND'] },
    schema: { summary: 'One call of the log', params: LoggedCallPath, response: { 200: CallLogOne } },
    handler: async (request) =>
      plain({ call: callLogEntry(await requireCall(db, orgOf(request), request.params.call_id)) }),
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/calls/:call_id/trace',
    config: { access: 'read', errors: ['CALL_NOT_FOUND', 'TRACE_NOT_FOUND'] },
    schema: { summary: 'The SIP messages of a call', params: LoggedCallPath, response: { 200: Trace } },
    handler: async (request) => {
      const call = await requireCall(db, orgOf(request), request.params.call_id);
      const { messages, truncated } = await requireTrace(db, call);
      return plain({ call_id: call.sip_call_id, truncated, messages });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/calls/:call_id/trace.pcap',
    config: { access: 'read', errors: ['CALL_NOT_FOUND', 'TRACE_NOT_FOUND'] },
    schema: {
      summary: 'The SIP messages of a call as a capture file of decrypted packets',
      params: LoggedCallPath,
      produces: ['application/vnd.tcpdump.pcap'],
    },
    handler: async (request, reply) => {
      const call = await requireCall(db, orgOf(request), request.params.call_id);
      const { messages } = await requireTrace(db, call);
      return reply
        .type('application/vnd.tcpdump.pcap')
        .header('content-disposition', `attachment; filename="${call.id}.pcap"`)
        .send(writePcap(messages));
    },
  });
}

/** Redacts again, in case an edge of another release left something unredacted. */
async function requireTrace(
  db: Db,
  call: CallRow,
): Promise<{ messages: TracedMessage[]; truncated: boolean }> {
  const trace = await findTrace(db, call.id);
  if (!trace) throw ApiError.of('TRACE_NOT_FOUND');
  const messages: TracedMessage[] = [];
  let since = 0;
  for (const message of trace.messages) {
    messages.push({ seq: messages.length + 1, ...message, raw: redactSip(message.raw) });
    since += message.raw.length;
    if (since < charsAtOnce) continue;
    since = 0;
    await setImmediate();
  }
  return { messages, truncated: trace.truncated };
}

/** The filter of a query, without its cursor. @throws ApiError INVALID_PARAMETER */
function callFilter(query: CallLogQuery): SearchFilter {
  const { max_mos } = query;
  return {
    ...commonFilter(query),
    ...(max_mos !== undefined && { maxMos: max_mos }),
    ...statusFilter(query.status),
  };
}

function statusFilter(status: string | undefined): Pick<CallFilter, 'outcome' | 'sipCode'> {
  if (status === undefined) return {};
  if (/^[1-6][0-9]{2}$/.test(status)) return { sipCode: Number(status) };
  const outcome = outcomes.find((one) => one === status);
  if (outcome) return { outcome };
  throw ApiError.invalid('?status', `must be a SIP code or one of ${outcomes.join(', ')}`);
}
