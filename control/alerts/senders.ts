/** Who sends notices: a mail server, an SMS service, or the service log when neither is configured. */
import type { FastifyBaseLogger } from 'fastify';
import { redacted } from './notice-rules.ts';

export interface OutgoingNotice {
  /** The same in every attempt. */
  readonly id: string;
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  /** For mail: its Message-ID and the thread it belongs to. */
  readonly messageId: string;
  readonly references?: string;
  /** ms since 1970 */
  readonly createdAt: number;
}

/**
 * `refused`: it will never be accepted, for example an invalid address. `unavailable`: it may be later. `error` is for
 * the service log; it may name the deployment's own servers.
 */
export type SendResult =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'refused' | 'unavailable'; readonly error: string };

export interface NoticeSender {
  /** Whether notices leave the deployment. False: they only go to the service log. */
  readonly reachesPeople: boolean;
  /** Resolves with the result of one attempt, also when it was aborted; never rejects. */
  send(notice: OutgoingNotice, signal: AbortSignal): Promise<SendResult>;
}

/** Contract 14.1: used when no sender is configured. */
export function logSender(channel: 'email' | 'sms', log: Pick<FastifyBaseLogger, 'info'>): NoticeSender {
  return {
    reachesPeople: false,
    send: async ({ recipient, subject, text }) => {
      log.info({ channel, to: redacted(recipient), subject, text }, 'notice without a sender');
      return { outcome: 'sent' };
    },
  };
}

/** An error's message with its causes, on one line. */
export function errorText(error: unknown): string {
  const texts: string[] = [];
  for (let at: unknown = error; at !== undefined && texts.length < 4; ) {
    texts.push(at instanceof Error ? at.message : String(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return texts.join(': ').replaceAll(/\s+/g, ' ').slice(0, 500);
}
