/** Calls the webhooks of a text conversation: checked addresses only, no redirects (contract 1.9). */
import { type OutgoingParts, sendOutgoing } from '#outgoing/request.ts';
import { parsedBody } from '#shared/agent/answer-body.ts';
import type { WebhookRequest, WebhookResult } from '#shared/agent/conversation.ts';

/** Most bytes read of a response; more is an error. */
const mostBytes = 1_048_576;

/** @param signal aborted when the responses are no longer needed */
export function webhookClient(
  parts: OutgoingParts,
  signal: AbortSignal = new AbortController().signal,
): (request: WebhookRequest) => Promise<WebhookResult> {
  return async ({ url, method, headers, body, timeoutMs }) => {
    if (!URL.canParse(url)) return failed(`"${url}" is not a URL`);
    try {
      const request = { url: new URL(url), method, headers, body, timeoutMs, mostBytes, signal };
      const answer = await sendOutgoing(parts, request);
      if (answer.cut) return failed(`the response is larger than ${mostBytes} bytes`);
      return { status: answer.status, body: parsedBody(answer.body.toString('utf8')), error: null };
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    }
  };
}

function failed(error: string): WebhookResult {
  return { status: null, body: null, error };
}
