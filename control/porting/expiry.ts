/**
 * Expires requests without a signature after 30 days and unused documents after 90. Failures never end this work,
 * because nothing else would do it; the retries slow down to once a day.
 */
import type { FastifyBaseLogger } from 'fastify';
import { type BackgroundWork, type DueItem, DueWork, type PortDocumentRow } from '../db/index.ts';
import type { PortingDeps } from './deps.ts';
import type { DocumentFiles } from './documents.ts';
import {
  deleteDocument,
  documentSubject,
  expireDocument,
  expiredDocuments,
  nextExpiry,
} from './documents-store.ts';
import { expiredRequests, nextSignatureExpiry, signatureExpirySubject } from './expiry-store.ts';
import { changePorts, moveNumbers, ownMove } from './moves.ts';

/** Node's timers hold 24 days at most; a daily check also covers a changed clock. */
const longestWaitMs = 24 * 60 * 60 * 1000;

/** Starts at once with what is due. */
export function startSignatureExpiry(services: PortingDeps, log: FastifyBaseLogger): BackgroundWork {
  const { announcements, clock, database, replica } = services;
  const { db } = database;
  return new DueWork<DueItem>({
    db,
    replica,
    clock,
    log,
    name: 'port without a signature',
    mostRunning: 4,
    mostPerOrganization: 4,
    due: expiredRequests,
    nextDue: async (now) => soon(now, await nextSignatureExpiry(db, now)),
    attempt: async ({ id }) => {
      await changePorts(services, (trx, altered) => {
        return moveNumbers(services, trx, altered, id, ownMove('failed', null, 'LOA_EXPIRED'));
      });
      log.info({ port: id }, 'port ended without a signature');
    },
    onStored: (wake) => announcements.on(signatureExpirySubject, wake),
  });
}

/** Starts at once with what is due. */
export function startDocumentExpiry(
  services: PortingDeps,
  files: DocumentFiles,
  log: FastifyBaseLogger,
): BackgroundWork {
  const { announcements, clock, database, replica } = services;
  const { db } = database;
  return new DueWork<PortDocumentRow>({
    db,
    replica,
    clock,
    log,
    name: 'unused document',
    mostRunning: 1,
    mostPerOrganization: 1,
    due: expiredDocuments,
    nextDue: async (now) => soon(now, await nextExpiry(db, now)),
    attempt: async ({ id, file_name }) => {
      if (!(await expireDocument(db, id, new Date(clock.now()).toISOString()))) return;
      await files.delete(file_name);
      await deleteDocument(db, id);
      log.info({ document: id }, 'unused document deleted');
    },
    onStored: (wake) => announcements.on(documentSubject, wake),
  });
}

function soon(now: string, next: string | null): string | null {
  if (next === null) return null;
  const latest = new Date(Date.parse(now) + longestWaitMs).toISOString();
  return next < latest ? next : latest;
}
