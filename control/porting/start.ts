/** Starts porting's background work: mails, orders with the carrier, expiry. */
import type { FastifyBaseLogger } from 'fastify';
import { type BackgroundWork, together } from '../db/index.ts';
import type { PortingDeps } from './deps.ts';
import { isKnownFile } from './documents-store.ts';
import { startDocumentExpiry, startSignatureExpiry } from './expiry.ts';
import { type MailSender, startMails } from './mails.ts';
import { startOrders } from './orders.ts';
import type { PortingParts } from './parts.ts';
import { sealEarlierRows } from './sealed-store.ts';

/** Before accepting requests: seals plain text of an earlier version and cleans up after crashed uploads. */
export async function preparePorting(
  services: PortingDeps,
  { files }: Pick<PortingParts, 'files'>,
  log: FastifyBaseLogger,
): Promise<void> {
  const { db } = services.database;
  const sealed = await sealEarlierRows(services.database, services.secrets);
  if (sealed > 0) log.info({ rows: sealed }, 'port requests of an earlier version were sealed');
  const left = await files.recover((fileName) => isKnownFile(db, fileName));
  if (left > 0) log.warn({ files: left }, 'cleaned up uploads left by a crash');
  const moved = await files.moveIn((fileName) => isKnownFile(db, fileName));
  if (moved > 0) log.info({ files: moved }, 'documents of ports were moved into the database');
}

export function startPorting(
  services: PortingDeps,
  { carrier, files, metrics }: PortingParts,
  sender: MailSender,
  log: FastifyBaseLogger,
  random: () => number = Math.random,
): BackgroundWork {
  return together([
    startMails({ services, sender, log, random, onAttempt: metrics.mail }),
    startSignatureExpiry(services, log),
    startDocumentExpiry(services, files, log),
    ...(carrier
      ? [
          startOrders({
            services,
            carrier,
            files,
            pollMs: services.limits.porting.pollMs,
            log,
            random,
            onAttempt: metrics.carrier,
          }),
        ]
      : []),
  ]);
}
