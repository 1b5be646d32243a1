/** Builds alerts: senders, delivery, evaluation. */
import { readFileSync } from 'node:fs';
import type { FastifyBaseLogger } from 'fastify';
import { type BackgroundWork, rounds } from '../db/index.ts';
import type { AlertDeps } from './deps.ts';
import { startEvaluation } from './evaluation.ts';
import type { AlertLimits } from './limits.ts';
import { mailSender } from './mail.ts';
import { startNotices } from './notices.ts';
import type { NoticeChannel } from './notices-store.ts';
import { type OperatorTarget, readStorage, startOperatorAlerts } from './operator.ts';
import { OperatorTurn } from './operator-turn.ts';
import { operatorWebhook } from './operator-webhook.ts';
import type { AlertMetrics } from './rules.ts';
import { logSender, type NoticeSender } from './senders.ts';
import { smsSender } from './sms.ts';

type Senders = Readonly<Record<NoticeChannel, NoticeSender>>;

/** @throws Error when the file of the mail server's authorities cannot be read */
export function alertSenders(
  { mail, sms }: Pick<AlertDeps['config'], 'mail' | 'sms'>,
  { sendTimeoutMs }: Pick<AlertLimits, 'sendTimeoutMs'>,
  clock: AlertDeps['clock'],
  log: Pick<FastifyBaseLogger, 'info'>,
): Senders {
  const ca = mail?.ca ? readFileSync(mail.ca, 'utf8') : null;
  return {
    email: mail ? mailSender(mail, ca, sendTimeoutMs) : logSender('email', log),
    sms: sms ? smsSender(sms, clock, sendTimeoutMs) : logSender('sms', log),
  };
}

/** Stops the evaluation, then the deliveries. */
export function startAlerts(
  services: AlertDeps,
  senders: Senders,
  log: FastifyBaseLogger,
  metrics: AlertMetrics,
  random: () => number = Math.random,
): BackgroundWork {
  const { announcements, bus, clock, config, database, limits, replica } = services;
  const { evaluationMs: everyMs, sendTimeoutMs: timeoutMs } = limits.alerts;
  const { probeGapMs } = config;
  const parts = { db: database.db, clock, announcements, log };
  const mailFrom = config.mail?.from ?? '';
  const notices = startNotices({
    ...parts,
    replica,
    senders,
    mailFrom,
    timeoutMs,
    random,
    onAttempt: metrics.notice,
  });
  const turn = new OperatorTurn(replica, bus);
  const stopOperator = startOperatorAlerts({
    clock,
    log,
    turn,
    targets: operatorTargets(services, senders),
    read: () => readStorage(services),
    mailFrom,
    deployment: config.url,
    timeoutMs,
    onAttempt: metrics.operator,
  });
  const evaluation = replica.whileHeld('alerts', () =>
    rounds(startEvaluation({ ...parts, probeGapMs, everyMs, onRound: metrics.evaluated })),
  );
  return {
    hold: () => {
      evaluation.hold();
      turn.work.hold();
      void stopOperator();
      notices.hold();
    },
    close: async () => {
      await evaluation.close();
      await stopOperator();
      await turn.work.close();
      await notices.close();
    },
  };
}

function operatorTargets({ config, clock, limits }: AlertDeps, { email }: Senders): OperatorTarget[] {
  const webhook = operatorWebhook(clock, limits.alerts.sendTimeoutMs);
  return config.operatorAlerts.map((address) =>
    address.includes('://')
      ? { channel: 'webhook', address, sender: webhook }
      : { channel: 'email', address, sender: email },
  );
}
