/** Verifies webhooks: that they come from this API, are unaltered, and are not old ones sent again. */
import { WebhookError } from './errors.ts';
import type { WebhookEvents } from './generated.ts';

export type WebhookEventType = keyof WebhookEvents;

/** A verified event; `type` tells what `data` is. Ignore types that you do not know: new ones may be added. */
export type WebhookEvent = {
  readonly [Type in WebhookEventType]: {
    readonly type: Type;
    /** The same in every attempt: remember it, because an event may come twice. */
    readonly id: string;
    /** From 1. */
    readonly attempt: number;
    /** Of the attempt. */
    readonly sentAt: Date;
    readonly data: WebhookEvents[Type];
  };
}[WebhookEventType];

/** Of `fetch`, of `node:http`, or a plain object. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookRequest {
  /** The body as it arrived, before any parsing. */
  readonly body: string | Uint8Array;
  readonly headers: WebhookHeaders;
  /** The signing secret (POST /v1/org/webhook-secret); several while it is replaced. None is refused. */
  readonly secret: string | readonly string[] | undefined;
  /** Greatest age of the attempt, and greatest lead of its clock, in seconds; default: 300 */
  readonly toleranceS?: number;
  /** Unix ms; default: now */
  readonly now?: number;
}

const usualToleranceS = 300;

/** @throws WebhookError that says what is wrong */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const { body, headers, secret, toleranceS = usualToleranceS, now = Date.now() } = request;
  const id = required(headers, 'x-webhook-id');
  const type = required(headers, 'x-webhook-event');
  const signature = required(headers, 'x-webhook-signature-timed');
  const [, time, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (time === undefined || hex === undefined)
    throw new WebhookError('x-webhook-signature-timed is malformed');
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new WebhookError('body is neither text nor octets: pass it as it arrived, before any parsing');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = joined(`${time}.${id}.`, body);
  const secrets = [secret ?? ''].flat();
  const matches = await Promise.all(secrets.map((one) => isSignedBy(one, hex, signed)));
  if (!matches.includes(true))
    throw new WebhookError(
      'The signature does not match: the body was altered, or the secret is another one',
    );
  const ageS = now / 1000 - Number(time);
  if (Math.abs(ageS) > toleranceS)
    throw new WebhookError(`The attempt is ${Math.round(ageS)} s old, and ${toleranceS} s are allowed`);
  const data = dataOf(JSON.parse(text), type, id);
  const attempt = Number(headerOf(headers, 'x-webhook-attempt') ?? 1);
  return { type, id, attempt, sentAt: new Date(Number(time) * 1000), data } as WebhookEvent;
}

/**
 * What the event is about. The headers tell its type, and they are not signed: body and id, which are, must agree.
 * @throws WebhookError
 */
function dataOf(body: Readonly<Record<string, unknown>>, type: string, id: string): unknown {
  // A call is posted as it is, under an id made of its own; every other event is in an envelope.
  const isCall = type === 'call.completed';
  if (isCall ? id !== `evt_${body.call_id}` : type !== body.type || id !== body.id)
    throw new WebhookError('The body is of another event than the headers say');
  return isCall ? body : body.data;
}

/** The octets that are signed: the body as it arrived. */
function joined(prefix: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const parts = [encoder.encode(prefix), typeof body === 'string' ? encoder.encode(body) : body];
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** In constant time. */
async function isSignedBy(secret: string, hex: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  if (secret === '') throw new WebhookError('secret is empty');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.verify('HMAC', key, signature, signed);
}

function required(headers: WebhookHeaders, name: string): string {
  const value = headerOf(headers, name);
  if (value === null) throw new WebhookError(`The header ${name} is missing`);
  return value;
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (isGettable(headers)) return headers.get(name);
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return [found ?? null].flat()[0] ?? null;
}

function isGettable(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}
