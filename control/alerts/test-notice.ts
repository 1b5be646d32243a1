/** The test button: a notice over every channel of a configuration, at once and without retries. */
import type { AlertTest, AlertTestResult } from '#shared/api/alerts.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Db, OrganizationRow, SipConfigurationRow } from '../db/index.ts';
import { everHeld } from '../numbers/index.ts';
import { findOrganization } from '../organizations/index.ts';
import { alertsOf, findConfigurations } from '../trunks/index.ts';
import { type AttemptResult, type Event, eventBody, verdictOf } from '../webhooks/index.ts';
import type { AlertDeps } from './deps.ts';
import { type Message, testMessage, testSms } from './notice-rules.ts';
import { withLimit } from './notices.ts';
import { type NoticeChannel, readList } from './notices-store.ts';
import type { NoticeSender } from './senders.ts';

export interface TestTools {
  readonly senders: Readonly<Record<NoticeChannel, NoticeSender>>;
  readonly sendWebhook: (
    orgId: string,
    url: string,
    event: Event,
    signal: AbortSignal,
  ) => Promise<AttemptResult>;
}

/** Concurrent messages to one server. */
const mostAtOnce = 4;
const testEventType = 'sip.alert.test';

/** @throws ApiError NUMBER_NOT_FOUND, SIP_CONFIG_NOT_FOUND, NO_ALERT_RECIPIENTS */
export async function testAlerts(
  services: AlertDeps,
  tools: TestTools,
  orgId: string,
  request: AlertTest,
  ending: AbortSignal,
): Promise<AlertTestResult[]> {
  const { db } = services.database;
  const row = await findTarget(db, orgId, request);
  const organization = await findOrganization(db, orgId);
  const { channels } = alertsOf(row);
  const emails = channels.email ? readList(organization.alert_emails) : null;
  const numbers = channels.sms ? readList(organization.alert_sms_numbers) : null;
  const url = channels.webhook ?? organization.event_webhook_url;
  if (!emails?.length && !numbers?.length && url === null) throw noRecipient();
  const mail = testMessage(row.number, row.direction, organization.name);
  const sms = testSms(row.number, row.direction);
  const results = [
    emails && testChannel(services, tools, 'email', emails, mail, ending),
    numbers && testChannel(services, tools, 'sms', numbers, sms, ending),
    url === null ? null : testWebhook(services, tools, organization, row, url, ending),
  ];
  return Promise.all(results.filter((result) => result !== null));
}

function noRecipient(): ApiError {
  const message =
    'This alert has no recipient: enable a channel in alert_config.channels and set its recipients with PATCH /v1/org/settings.';
  return ApiError.of('NO_ALERT_RECIPIENTS', undefined, message);
}

async function findTarget(db: Db, orgId: string, request: AlertTest): Promise<SipConfigurationRow> {
  const { configuration_id: id, direction, phone_number } = request;
  const number = toE164(phone_number);
  if (number === null) throw ApiError.invalid('/phone_number', 'must be an E.164 number of 7 to 15 digits');
  if (!(await everHeld(db, orgId, number))) throw ApiError.of('NUMBER_NOT_FOUND');
  const rows = await findConfigurations(db, orgId, number);
  const row = rows.find((one) => one.direction === direction && (id === undefined || one.id === id));
  if (!row) throw ApiError.of('SIP_CONFIG_NOT_FOUND');
  return row;
}

async function testChannel(
  { clock, config, limits }: AlertDeps,
  { senders }: TestTools,
  channel: NoticeChannel,
  recipients: readonly string[],
  message: Message,
  ending: AbortSignal,
): Promise<AlertTestResult> {
  const sender = senders[channel];
  const limit = { clock, timeoutMs: limits.alerts.sendTimeoutMs };
  const problems: string[] = [];
  const waiting = [...recipients];
  const sendNext = async (signal: AbortSignal): Promise<void> => {
    for (let recipient = waiting.shift(); recipient !== undefined; recipient = waiting.shift()) {
      const id = newId();
      const notice = { id, recipient, ...message, messageId: `<test.${id}@${domainOf(config)}>` };
      const result = await sender.send({ ...notice, createdAt: clock.now() }, signal);
      if (result.outcome === 'refused') problems.push(result.error);
      if (result.outcome === 'unavailable') problems.push(unavailable[channel]);
    }
  };
  await withLimit(limit, ending, async (signal) => {
    await Promise.all(Array.from({ length: mostAtOnce }, () => sendNext(signal)));
    return { outcome: 'sent' };
  });
  const error =
    recipients.length === 0 ? noRecipients[channel] : whatFailed(sender, channel, problems, recipients);
  return { channel, target_count: recipients.length, ok: error === null, error };
}

const noRecipients: Readonly<Record<NoticeChannel, string>> = {
  email: 'The organization has no alert_emails; set them with PATCH /v1/org/settings.',
  sms: 'The organization has no alert_sms_numbers; set them with PATCH /v1/org/settings.',
};
/** The reason names servers of the deployment, which customers must not see. */
const unavailable: Readonly<Record<NoticeChannel, string>> = {
  email: 'The mail server of the service did not take the message.',
  sms: 'The SMS service did not take the message.',
};
const onlyLogged: Readonly<Record<NoticeChannel, string>> = {
  email: 'No mail server is configured (SMTP_URL); the message is in the service log only.',
  sms: 'No SMS service is configured (SMS_API_URL); the message is in the service log only.',
};

function whatFailed(
  sender: NoticeSender,
  channel: NoticeChannel,
  problems: readonly string[],
  recipients: readonly string[],
): string | null {
  if (problems.length > 0) return `${problems.length} of ${recipients.length} failed: ${problems[0]}`;
  return sender.reachesPeople ? null : onlyLogged[channel];
}

/** The domain of MAIL_FROM, for message ids. */
function domainOf({ mail }: AlertDeps['config']): string {
  return /@([A-Za-z0-9.-]+)/.exec(mail?.from ?? '')?.[1] ?? 'trunkline.invalid';
}

async function testWebhook(
  { clock }: AlertDeps,
  { sendWebhook }: TestTools,
  organization: OrganizationRow,
  row: SipConfigurationRow,
  url: string,
  ending: AbortSignal,
): Promise<AlertTestResult> {
  const id = `evt_${newId()}`;
  const now = new Date(clock.now()).toISOString();
  const { number: phone_number, id: configuration_id, direction, sip_endpoint: endpoint } = row;
  const data = { state: 'alert.test' as const, phone_number, configuration_id, direction, endpoint };
  const body = eventBody({ id, type: testEventType, orgId: organization.id, now, data });
  const result = await sendWebhook(
    organization.id,
    url,
    { id, type: testEventType, body, attempt: 1 },
    ending,
  );
  const error = 'error' in result ? result.error : `The webhook answered ${result.status}.`;
  const ok = verdictOf(result) === 'delivered';
  return { channel: 'webhook', target_count: 1, ok, error: ok ? null : error };
}
