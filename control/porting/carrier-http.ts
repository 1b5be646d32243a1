/** A carrier's porting API over HTTP with JSON, in a generic form; docs/porting.md lists the calls. */
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { sendOutgoing } from '#outgoing/request.ts';
import type { PortCheckResult } from '#shared/api/porting.ts';
import type { Clock } from '#shared/clock.ts';
import { toE164 } from '#shared/e164.ts';
import type { CarrierSettings } from '../settings/index.ts';
import { type Carrier, type CarrierFile, type CarrierOrder, CarrierRefusal } from './carrier.ts';
import { DocumentAnswer, OrderAnswer, OrdersAnswer, orderState, PortabilityAnswer } from './carrier-rules.ts';

const numberTypes = ['mobile', 'landline', 'toll-free', 'voip', 'unknown'] as const;
const answerBytes = 1_048_576;

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly bytes?: { readonly bytes: Uint8Array; readonly type: string };
  readonly idempotencyKey?: string;
}

interface Received {
  readonly status: number;
  readonly body: unknown;
}

/** The deployment configures the service, so the rules for customers' targets (contract 1.9) do not apply. */
export function httpCarrier(
  settings: CarrierSettings & { readonly timeoutMs: number },
  clock: Clock,
): Carrier {
  const call = (sent: Sent, signal?: AbortSignal) => exchange(settings, clock, sent, signal);
  return {
    check: async (numbers) => {
      const answer = await call({ method: 'POST', path: '/portability', body: { phone_numbers: numbers } });
      // The carrier does not offer this: fall back to the numbering plan.
      if ([404, 405, 501].includes(answer.status)) return new Map();
      const { results } = parsed(PortabilityAnswer, succeeded(answer));
      return new Map(results.map((one) => [toE164(one.phone_number) ?? one.phone_number, known(one)]));
    },
    submit: async (order, signal) => {
      const documents: { id: string; type: CarrierFile['type'] }[] = [];
      for (const file of order.files) {
        const bytes = { bytes: file.bytes, type: file.mediaType };
        const sent = { method: 'POST', path: '/documents', bytes, idempotencyKey: file.hash } as const;
        const { id } = parsed(DocumentAnswer, taken(await call(sent, signal)));
        documents.push({ id, type: file.type });
      }
      const sent = {
        method: 'POST',
        path: '/orders',
        body: orderBody(order, documents),
        idempotencyKey: order.reference,
      } as const;
      return orderState(parsed(OrderAnswer, taken(await call(sent, signal))), order.numbers);
    },
    look: async (id, numbers, signal) => {
      const answer = await call({ method: 'GET', path: `/orders/${encodeURIComponent(id)}` }, signal);
      return orderState(parsed(OrderAnswer, succeeded(answer)), numbers);
    },
    find: async (reference, signal) => {
      const path = `/orders?reference=${encodeURIComponent(reference)}`;
      const { orders } = parsed(OrdersAnswer, succeeded(await call({ method: 'GET', path }, signal)));
      return orders[0]?.id ?? null;
    },
    cancel: async (id, signal) => {
      const path = `/orders/${encodeURIComponent(id)}/cancel`;
      const sent = { method: 'POST', path, body: {}, idempotencyKey: `${id}-cancel` } as const;
      const answer = await call(sent, signal);
      // 404: no such order; 409: it has ended. In both cases there is nothing to cancel.
      if (answer.status !== 404 && answer.status !== 409) succeeded(answer);
    },
  };
}

function orderBody(order: CarrierOrder, documents: readonly object[]): object {
  const { information } = order;
  return {
    reference: order.reference,
    phone_numbers: order.numbers,
    requested_date: order.targetDate,
    customer_type: information.customer_type,
    business_name: information.business_name,
    authorized_name: `${information.first_name} ${information.last_name}`,
    authorized_email: information.authorized_representative_email,
    account_number: information.account_number,
    billing_phone_number: information.account_telephone_number,
    pin: order.pin,
    service_address: information.address,
    documents,
  };
}

/** The known members for one number, without absent ones. */
function known(one: Static<typeof PortabilityAnswer>['results'][number]): Partial<PortCheckResult> {
  const number_type = numberTypes.find((type) => type === one.number_type);
  return {
    portable: one.portable,
    ...(number_type && { number_type }),
    ...(one.pin_required !== undefined && { pin_required: one.pin_required }),
    reason: one.portable ? null : (one.reason ?? 'The carrier cannot port the number.'),
  };
}

async function exchange(
  { url, key, timeoutMs }: CarrierSettings & { readonly timeoutMs: number },
  clock: Clock,
  sent: Sent,
  ending?: AbortSignal,
): Promise<Received> {
  const type = sent.bytes ? sent.bytes.type : 'application/json';
  const answer = await sendOutgoing(
    { clock, allowedTargets: null },
    {
      method: sent.method,
      url: new URL(url + sent.path),
      headers: {
        accept: 'application/json',
        'user-agent': 'Trunkline',
        ...(sent.method === 'POST' && { 'content-type': type }),
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(sent.idempotencyKey !== undefined && { 'idempotency-key': sent.idempotencyKey }),
      },
      body: sent.bytes?.bytes ?? (sent.body === undefined ? null : JSON.stringify(sent.body)),
      timeoutMs,
      mostBytes: answerBytes,
      signal: ending ?? new AbortController().signal,
    },
  );
  if (answer.cut) throw new Error(`the carrier's answer is longer than ${answerBytes} bytes`);
  return { status: answer.status, body: jsonOf(answer.body.toString('utf8')) };
}

/** Undefined when it is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isSuccess({ status }: Received): boolean {
  return status >= 200 && status < 300;
}

/** @throws Error for any response but success */
function succeeded(answer: Received): Received {
  if (isSuccess(answer)) return answer;
  throw new Error(`the carrier answered ${answer.status}`);
}

/** 400 and 422 concern this order; other rejections concern the key, the URL or the load. @throws CarrierRefusal */
function taken(answer: Received): Received {
  if (answer.status !== 400 && answer.status !== 422) return succeeded(answer);
  throw new CarrierRefusal(`Rejected by the carrier: ${messageOf(answer.body)}`.slice(0, 500));
}

function messageOf(body: unknown): string {
  const read = (value: unknown, name: string): unknown =>
    typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  const errors = read(body, 'errors');
  const first = Array.isArray(errors) ? (errors[0] as unknown) : undefined;
  const texts = [read(body, 'message'), read(first, 'message'), read(first, 'detail'), read(body, 'error')];
  return texts.find((text) => typeof text === 'string') ?? 'no reason given';
}

/** @throws Error when the response has another form */
function parsed<T extends TSchema>(schema: T, { body }: Received): Static<T> {
  if (Value.Check(schema, body)) return body;
  throw new Error("the carrier's response does not match docs/porting.md");
}
