/** Mail over SMTP (RFC 5321), with STARTTLS (RFC 3207) or TLS from the start (RFC 8314). */
import { lazyLoad } from '#shared/lazy.ts';
import type { MailSettings } from '../settings/index.ts';
import { errorText, type NoticeSender, type SendResult } from './senders.ts';

/**
 * TLS is used when the server offers it, and required when the settings say so or a password is sent.
 * @param ca PEM of trusted authorities; null: the system's
 * @param timeoutMs timeout for a connection, the greeting and each answer
 */
export function mailSender(settings: MailSettings, ca: string | null, timeoutMs: number): NoticeSender {
  const { host, port, secure, user, password, from } = settings;
  const options = {
    host,
    port,
    secure,
    requireTLS: !secure && (settings.requireTls || password !== null),
    ...(user !== null && { auth: { user, pass: password ?? '' } }),
    tls: { minVersion: 'TLSv1.2', ...(ca !== null && { ca }) },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const;
  // Loaded for the first mail.
  const transport = lazyLoad(async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport(options);
  });
  return {
    reachesPeople: true,
    send: async (notice, signal) => {
      try {
        await (await transport()).sendMail({
          signal,
          from,
          to: notice.recipient,
          subject: notice.subject,
          text: notice.text,
          date: new Date(notice.createdAt),
          messageId: notice.messageId,
          ...(notice.references !== undefined && {
            references: notice.references,
            inReplyTo: notice.references,
          }),
          // RFC 3834: suppresses automatic replies.
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return { outcome: 'sent' };
      } catch (error) {
        return failure(error);
      }
    },
  };
}

/** A permanent rejection (5yz, RFC 5321 4.2.1) of the recipient or the message is final; everything else may pass. */
function failure(error: unknown): SendResult {
  const { code, command, responseCode } = facts(error);
  const isAboutMessage = (code === 'EENVELOPE' && command === 'RCPT TO') || code === 'EMESSAGE';
  const isFinal = isAboutMessage && responseCode !== null && responseCode >= 500;
  return { outcome: isFinal ? 'refused' : 'unavailable', error: errorText(error) };
}

function facts(error: unknown): { code: unknown; command: unknown; responseCode: number | null } {
  const read = (name: string): unknown =>
    typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  const responseCode = read('responseCode');
  return {
    code: read('code'),
    command: read('command'),
    responseCode: typeof responseCode === 'number' ? responseCode : null,
  };
}
