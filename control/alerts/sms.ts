/** SMS through the deployment's SMS service: POST {from, to, text} as JSON, with a bearer key. */
import type { SmsSettings } from '../config.ts';
import { errorText, type NoticeSender, type SendResult } from './senders.ts';

/** The service is named by the deployment, so the rules for customers' targets (contract 1.9) do not apply. */
export function smsSender({ url, key, from }: SmsSettings): NoticeSender {
  return {
    reachesPeople: true,
    send: async (notice, signal) => {
      try {
        const answer = await fetch(url, {
          method: 'POST',
          redirect: 'manual',
          signal,
          headers: {
            'content-type': 'application/json',
            'user-agent': 'Trunkline',
            // Lets the service recognise an attempt whose answer was lost.
            'idempotency-key': notice.id,
            ...(key !== null && { authorization: `Bearer ${key}` }),
          },
          body: JSON.stringify({ from, to: notice.recipient, text: notice.text }),
        });
        await answer.body?.cancel();
        return verdict(answer.status);
      } catch (error) {
        return { outcome: 'unavailable', error: errorText(error) };
      }
    },
  };
}

/** 400 and 422 are about this message; other refusals are about the key, the URL or the load. */
function verdict(status: number): SendResult {
  if (status >= 200 && status < 300) return { outcome: 'sent' };
  const isFinal = status === 400 || status === 422;
  return { outcome: isFinal ? 'refused' : 'unavailable', error: `the SMS service answered ${status}` };
}
