/** Sends the request of a Webhook node to a judged address; redirects are not followed (contract 1.9). */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { BlockList } from 'node:net';
import type { WebhookRequest, WebhookResult } from '#shared/agent/conversation.ts';
import type { Clock } from '#shared/clock.ts';
import { judgedLookup, type Resolver } from './judged-target.ts';

export interface WebhookClientDeps {
  readonly allowed: () => BlockList;
  readonly resolve: Resolver;
  readonly clock: Clock;
  /** PEM of the certificate authorities; absent: those of Node */
  readonly ca?: string | string[] | undefined;
  /** bytes of a response that are read; more is an error. Default 1 MiB. */
  readonly maxResponseBytes?: number;
}

/** @param nodeId the node that asks */
export type WebhookClient = (request: WebhookRequest, nodeId: string) => Promise<WebhookResult>;

/** Never rejects: what goes wrong is in the result's `error`. */
export function createWebhookClient(
  deps: WebhookClientDeps,
): (request: WebhookRequest) => Promise<WebhookResult> {
  return async (request) => {
    try {
      return await send(request, deps);
    } catch (error) {
      return { status: null, body: null, error: error instanceof Error ? error.message : String(error) };
    }
  };
}

async function send(request: WebhookRequest, deps: WebhookClientDeps): Promise<WebhookResult> {
  if (!URL.canParse(request.url)) throw new Error(`"${request.url}" is not a URL`);
  const url = new URL(request.url);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error(`${url.protocol} is not supported`);
  const lookup = await judgedLookup(url, deps.allowed(), deps.resolve);
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const { method, headers, timeoutMs } = request;
  const ca = deps.ca === undefined ? {} : { ca: deps.ca };
  const outgoing = open(url, { method, headers, lookup, agent: false, ...ca });
  const timer = deps.clock.after(timeoutMs, () =>
    outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)),
  );
  try {
    return await exchange(outgoing, request.body, deps.maxResponseBytes ?? 1_048_576);
  } finally {
    timer.cancel();
    outgoing.destroy();
  }
}

function exchange(outgoing: ClientRequest, body: string | null, maxBytes: number): Promise<WebhookResult> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      readBody(response, maxBytes).then(
        (text) => resolve({ status: response.statusCode ?? null, body: parsed(text), error: null }),
        reject,
      );
    });
    outgoing.end(body ?? undefined);
  });
}

async function readBody(response: IncomingMessage, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new Error(`the response is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
