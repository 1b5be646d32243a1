/** SMS through the deployment's SMS service: POST {from, to, text} as JSON, with a bearer key. */
import { sendOutgoing } from '#outgoing/request.ts';
import type { Clock } from '#shared/clock.ts';
import type { SmsSettings } from '../settings/index.ts';
import { errorText, type NoticeSender, type SendResult } from './senders.ts';

/**
 * The deployment configures the service, so the rules for customers' targets (contract 1.9) do not apply.
 * @param timeoutMs timeout of one attempt
 */
export function smsSender({ url, key, from }: SmsSettings, clock: Clock, timeoutMs: number): NoticeSender {
  return {
    reachesPeople: true,
    send: async (notice, signal) => {
      try {
        const answer = await sendOutgoing(
          { clock, allowedTargets: null },
          {
            method: 'POST',
            url: new URL(url),
            headers: {
              'content-type': 'application/json',
              'user-agent': 'Trunkline',
              // Lets the service recognize an attempt whose answer was lost.
              'idempotency-key': notice.id,
              ...(key !== null && { authorization: `Bearer ${key}` }),
            },
            body: JSON.stringify({ from, to: notice.recipient, text: notice.text }),
            timeoutMs,
            // The status is enough.
            mostBytes: 0,
            signal,
          },
        );
        return verdict(answer.status);
      } catch (error) {
        return { outcome: 'unavailable', error: errorText(error) };
      }
    },
  };
}

/** 400 and 422 concern this message; other rejections concern the key, the URL or the load. */
function verdict(status: number): SendResult {
  if (status >= 200 && status < 300) return { outcome: 'sent' };
  const isFinal = status === 400 || status === 422;
  return { outcome: isFinal ? 'refused' : 'unavailable', error: `the SMS service answered ${status}` };
}
