/** Sends the request of a Webhook node to a checked address; redirects are not followed (contract 1.9). */

import type { BlockList } from 'node:net';
import { sendOutgoing } from '#outgoing/request.ts';
import { parsedBody } from '#shared/agent/answer-body.ts';
import type { WebhookRequest, WebhookResult } from '#shared/agent/conversation.ts';
import type { Clock } from '#shared/clock.ts';
import type { ResolveHost } from '#shared/judged-lookup.ts';

export interface WebhookClientDeps {
  readonly allowed: () => BlockList;
  readonly resolve: ResolveHost;
  readonly clock: Clock;
  /** PEM of the certificate authorities; absent: Node's */
  readonly ca?: string | string[] | undefined;
  /** maximum size of a response, bytes; more is an error. Default 1 MiB. */
  readonly maxResponseBytes?: number;
}

/** @param nodeId the node that sends the request */
export type WebhookClient = (request: WebhookRequest, nodeId: string) => Promise<WebhookResult>;

/** Never rejects: errors are in the result's `error`. */
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
  const { clock, resolve, ca, maxResponseBytes: mostBytes = 1_048_576 } = deps;
  const { method, headers, body, timeoutMs } = request;
  const answer = await sendOutgoing(
    { clock, resolve, allowedTargets: deps.allowed(), ...(ca !== undefined && { ca }) },
    { url: new URL(request.url), method, headers, body, timeoutMs, mostBytes, signal: never },
  );
  if (answer.cut) throw new Error(`the response is larger than ${mostBytes} bytes`);
  return { status: answer.status, body: parsedBody(answer.body.toString('utf8')), error: null };
}

/** Never aborted: a call's webhook ends only by its own deadline. */
const never = new AbortController().signal;
