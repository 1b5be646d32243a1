/** The text of alert notices: pure. */
import type { AlertNotice } from '#shared/api/webhook-events.ts';
import { counted } from '#shared/counted.ts';
import type { AlertRow } from '../db/index.ts';
import type { TrunkAlertKind } from './rules.ts';

/** Longest text of one SMS in the GSM alphabet. */
const smsLength = 160;

type Reported = Omit<AlertRow, 'calm_evaluations' | 'kind'> & { readonly kind: TrunkAlertKind };

export function eventType(alert: Pick<AlertRow, 'resolved_at'>): 'sip.alert.raised' | 'sip.alert.resolved' {
  return alert.resolved_at === null ? 'sip.alert.raised' : 'sip.alert.resolved';
}

/** `data` of the webhook (contract 13). */
export function alertEvent(alert: Reported): AlertNotice {
  return {
    alert_id: alert.id,
    kind: alert.kind,
    state: alert.resolved_at === null ? 'alert.raised' : 'alert.resolved',
    phone_number: alert.number,
    configuration_id: alert.configuration_id,
    direction: alert.direction,
    endpoint: alert.endpoint,
    threshold: alert.threshold,
    value: alert.value,
    window_minutes: alert.window_minutes,
    raised_at: alert.raised_at,
    resolved_at: alert.resolved_at,
  };
}

/** The wording for a kind of alert. */
interface Wording {
  readonly title: string;
  /** Sentences in present and past tense. */
  readonly raised: (alert: Reported) => string;
  readonly resolved: (alert: Reported) => string;
  readonly short: (alert: Reported) => string;
  readonly advice: string;
}

const wordings: Readonly<Record<TrunkAlertKind, Wording>> = {
  unreachable: {
    title: 'trunk unreachable',
    raised: ({ value, threshold }) =>
      `No endpoint of the trunk has answered OPTIONS probes for ${counted(value, 'minute')} (threshold: ${threshold}).`,
    resolved: () => 'The trunk answers OPTIONS probes again.',
    short: ({ value }) => `unreachable for ${value} min`,
    advice:
      'Check that the SIP server is up, that its firewall lets in the addresses of GET /v1/sip/firewall-ips, and ' +
      'that its TLS certificate is valid for the host. GET /v1/sip/status shows each endpoint; ' +
      'POST /v1/sip/test-call tries the trunk.',
  },
  failure_rate: {
    title: 'many failed calls',
    raised: ({ value, threshold, window_minutes }) =>
      `${value} % of the calls that ended within ${window_minutes} minutes have failed (threshold: ${threshold} %).`,
    resolved: ({ value, threshold, window_minutes }) =>
      `${value} % of the calls that ended within ${window_minutes} minutes have failed, or they are fewer than 5 (threshold: ${threshold} %).`,
    short: ({ value, window_minutes }) => `${value} % of calls failed in ${window_minutes} min`,
    advice:
      'GET /v1/sip/calls?status=failed lists the calls, each with the reason of its end; ' +
      'GET /v1/sip/calls/{call_id}/trace has the SIP messages.',
  },
  response_time: {
    title: 'slow responses',
    raised: ({ value, threshold }) =>
      `The last 5 OPTIONS probes were answered in ${value} ms on average (threshold: ${threshold} ms).`,
    resolved: ({ value, threshold }) =>
      `The last 5 OPTIONS probes were answered in ${value} ms on average (threshold: ${threshold} ms).`,
    short: ({ value }) => `answers in ${value} ms`,
    advice: 'Check the load of the SIP server and the network between it and this service.',
  },
  certificate_expiring: {
    title: 'TLS certificate expires',
    raised: ({ value, threshold }) =>
      value <= 0
        ? 'The TLS certificate of the SIP server has expired: calls over the trunk are not connected.'
        : `The TLS certificate of the SIP server expires in ${counted(value, 'day')} (threshold: ${threshold}).`,
    resolved: ({ value }) =>
      `The TLS certificate of the SIP server was renewed: it is valid for ${counted(value, 'day')}.`,
    short: ({ value }) => (value <= 0 ? 'TLS certificate expired' : `TLS certificate expires in ${value} d`),
    advice:
      'Renew the certificate of the SIP server. GET /v1/sip/status shows it for each endpoint; the edge looks at it ' +
      'every 6 hours.',
  },
};

export interface Message {
  /** For mail. */
  readonly subject: string;
  readonly text: string;
}

/** @param organization its name */
export function mailMessage(alert: Reported, organization: string): Message {
  const { title, raised, resolved, advice } = wordings[alert.kind];
  const isOpen = alert.resolved_at === null;
  return {
    subject: `${isOpen ? 'Alert' : 'Resolved'}: ${title}, ${alert.number} ${alert.direction}`,
    text: lines([
      isOpen ? raised(alert) : resolved(alert),
      '',
      `Number:        ${alert.number} (${alert.direction})`,
      `Endpoint:      ${alert.endpoint ?? '-'}`,
      `Configuration: ${alert.configuration_id}`,
      `Organization:  ${organization}`,
      `Raised:        ${alert.raised_at}`,
      ...(isOpen ? [] : [`Resolved:      ${alert.resolved_at}`]),
      ...(isOpen ? ['', 'What to do:', advice] : []),
      '',
      `Alert ${alert.id}`,
    ]),
  };
}

/** One SMS. */
export function smsMessage(alert: Reported): Message {
  const { title, short } = wordings[alert.kind];
  const where = `${alert.number} ${alert.direction}${alert.endpoint === null ? '' : ` ${alert.endpoint}`}`;
  const text =
    alert.resolved_at === null
      ? `Trunkline alert: ${short(alert)}, since ${minute(alert.raised_at)}: ${where}`
      : `Trunkline resolved: ${title}, ${minute(alert.resolved_at)}: ${where}`;
  return { subject: '', text: text.slice(0, smsLength) };
}

/** `2030-01-01 00:05 UTC` */
function minute(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** The text of the test button's notice. */
export function testMessage(number: string, direction: string, organization: string): Message {
  return {
    subject: `Test of alerts, ${number} ${direction}`,
    text: lines([
      `Trunkline test: alerts of ${number} (${direction}) reach you here.`,
      '',
      `Organization: ${organization}`,
      'This is a test; nothing is wrong.',
    ]),
  };
}

export function testSms(number: string, direction: string): Message {
  return { subject: '', text: `Trunkline test: alerts of ${number} (${direction}) reach you here.` };
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}

/**
 * The same for every attempt and every recipient, so that duplicates are recognized and the end of an alert is threaded
 * under its start (RFC 5322, 3.6.4).
 * @param from address whose domain makes the ids unique
 */
export function threadIds(
  alertId: string,
  event: 'raised' | 'resolved',
  from: string,
): { readonly messageId: string; readonly references?: string } {
  const domain = threadDomain(from);
  const raised = `<alert.${alertId}.raised@${domain}>`;
  if (event === 'raised') return { messageId: raised };
  return { messageId: `<alert.${alertId}.resolved@${domain}>`, references: raised };
}

/** The domain that makes message ids unique. @param from sender address; may be empty */
export function threadDomain(from: string): string {
  return /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? 'trunkline.invalid';
}

/** An address or number redacted for logs: the domain, or the last two digits. */
export function redacted(recipient: string): string {
  const at = recipient.lastIndexOf('@');
  return at < 0 ? `…${recipient.slice(-2)}` : `…${recipient.slice(at)}`;
}

/** Seconds from the first attempt to each one: most mail server outages end within hours. */
export const noticeSchedule: readonly number[] = [0, 15, 60, 300, 900, 3600, 10_800];
