/** The operator's webhook: POST {id, subject, text, created_at} as JSON. Chat services show `text` alone. */
import { sendOutgoing } from '#outgoing/request.ts';
import type { Clock } from '#shared/clock.ts';
import { errorText, type NoticeSender } from './senders.ts';

/**
 * The operator configures the target, so the rules for customers' targets (contract 1.9) do not apply.
 * @param timeoutMs timeout of one attempt
 */
export function operatorWebhook(clock: Clock, timeoutMs: number): NoticeSender {
  return {
    reachesPeople: true,
    send: async ({ id, recipient, subject, text, createdAt }, signal) => {
      try {
        const { status } = await sendOutgoing(
          { clock, allowedTargets: null },
          {
            method: 'POST',
            url: new URL(recipient),
            headers: {
              'content-type': 'application/json',
              'user-agent': 'Trunkline',
              'idempotency-key': id,
            },
            body: JSON.stringify({
              id,
              subject,
              text: `${subject}\n\n${text}`,
              created_at: new Date(createdAt).toISOString(),
            }),
            timeoutMs,
            // The status is enough.
            mostBytes: 0,
            signal,
          },
        );
        if (status >= 200 && status < 300) return { outcome: 'sent' };
        return { outcome: 'unavailable', error: `the webhook answered ${status}` };
      } catch (error) {
        return { outcome: 'unavailable', error: errorText(error) };
      }
    },
  };
}
