/** Signing a letter of authorization: checks, and what is stored (contract 5.6). */
import { createHash } from 'node:crypto';
import { ApiError } from '#shared/errors.ts';
import type { Actor as ChangeActor } from '../audit/index.ts';
import type { Db } from '../db/index.ts';
import { findOrganization } from '../organizations/index.ts';
import { dateOf } from './business-days.ts';
import type { PortingDeps } from './deps.ts';
import { sameName } from './initiate-rules.ts';
import type * as LetterPdf from './letter-pdf.ts';
import { type Letter, letterHash, letterOf, letterText, type SignatureFacts } from './letter-rules.ts';
import { changePorts, moveNumbers } from './moves.ts';
import { queueOrder } from './orders-store.ts';
import { openDetails, portContext, sealSigner } from './sealed-store.ts';
import { isOpen } from './state-rules.ts';
import {
  findLetter,
  findNumbers,
  findRequestOfToken,
  insertLetter,
  type PortRequest,
  updateRequest,
} from './store.ts';

/** Longest stored user agent. */
const agentLength = 512;

/** The request of a link. @throws ApiError SIGNATURE_LINK_NOT_FOUND, SIGNATURE_LINK_EXPIRED */
export async function openLink(services: PortingDeps, db: Db, token: string): Promise<PortRequest> {
  const request = await findRequestOfToken(db, token);
  if (!request) throw ApiError.of('SIGNATURE_LINK_NOT_FOUND');
  const isLate =
    request.signed_at === null && Date.parse(request.signature_expires_at) <= services.clock.now();
  if (isLate || request.status === 'canceled' || request.status === 'failed')
    throw ApiError.of('SIGNATURE_LINK_EXPIRED');
  return request;
}

/** The current letter to sign: with the numbers still to be ported. */
export async function currentLetter(
  { secrets }: Pick<PortingDeps, 'secrets'>,
  db: Db,
  request: PortRequest,
): Promise<Letter> {
  const numbers = await findNumbers(db, request.id);
  const organization = await findOrganization(db, request.org_id);
  return letterOf({
    requestId: request.id,
    date: dateOf(Date.parse(request.created_at)),
    organization: organization.name,
    information: openDetails(secrets, request),
    numbers: numbers.filter(({ status }) => isOpen(status)).map(({ number }) => number),
    targetDate: request.target_port_date,
  });
}

export interface Signing {
  readonly token: string;
  readonly name: string;
  readonly consent: boolean;
  /** Hash of the letter shown to the signer, if the page sent it. */
  readonly letterRead: string | null;
  readonly address: string;
  readonly agent: string;
  readonly by: ChangeActor;
}

/**
 * Signs, submits the request and stores what was signed, all or nothing. Returns the signing time.
 * @throws ApiError SIGNATURE_LINK_NOT_FOUND, SIGNATURE_LINK_EXPIRED, ALREADY_SIGNED, CONSENT_REQUIRED,
 *   NAME_MISMATCH, in this order
 */
export async function signLetter(services: PortingDeps, signing: Signing): Promise<string> {
  const { clock, database, secrets } = services;
  // The link is checked before the form: an unknown link reveals nothing else.
  const { letter, request } = await unsigned(services, database.db, signing);
  if (!signing.consent) throw ApiError.of('CONSENT_REQUIRED');
  const { first_name, last_name } = openDetails(secrets, request);
  if (!sameName(signing.name, `${first_name} ${last_name}`)) throw ApiError.of('NAME_MISMATCH');
  const now = clock.now();
  const signature: SignatureFacts = {
    name: signing.name.trim(),
    at: new Date(now).toISOString(),
    address: signing.address,
    agent: signing.agent.slice(0, agentLength),
    hash: letterHash(letter),
  };
  // Created before the transaction, which must not wait for it, and kept only if the letter is still the same.
  const pdf = await printed(letter, signature, now);
  await changePorts(services, async (db, altered) => {
    const again = await unsigned(services, db, { ...signing, letterRead: signature.hash });
    await keep(services, db, again.request, letter, signature, pdf);
    const move = {
      to: 'submitted',
      numbers: null,
      actor: 'signer',
      actorId: null,
      by: signing.by,
      reason: null,
    } as const;
    await moveNumbers(services, db, altered, request.id, move);
    if (services.config.porting.carrier) await queueOrder(db, request, signature.at);
  });
  return signature.at;
}

/** The request and its letter while it may be signed. */
async function unsigned(
  services: PortingDeps,
  db: Db,
  { token, letterRead }: Signing,
): Promise<{ request: PortRequest; letter: Letter }> {
  const request = await openLink(services, db, token);
  if (request.signed_at !== null) throw ApiError.of('ALREADY_SIGNED');
  const letter = await currentLetter(services, db, request);
  if (letterRead !== null && letterRead !== letterHash(letter))
    throw ApiError.invalid('?letter', 'the letter has changed since it was read; read it again');
  return { request, letter };
}

async function keep(
  { secrets }: PortingDeps,
  db: Db,
  request: PortRequest,
  letter: Letter,
  signature: SignatureFacts,
  pdf: Buffer,
): Promise<void> {
  await updateRequest(db, request.id, {
    signed_at: signature.at,
    ...sealSigner(secrets, request.id, {
      signed_name: signature.name,
      signer_address: signature.address,
      signer_agent: signature.agent,
    }),
    letter_hash: signature.hash,
  });
  await insertLetter(db, {
    request_id: request.id,
    letter: secrets.seal(letterText(letter), portContext(request.id, 'letter_text')),
    pdf: secrets.seal(pdf.toString('base64'), portContext(request.id, 'letter')),
    pdf_hash: createHash('sha256').update(pdf).digest('hex'),
    created_at: signature.at,
  });
}

/** The letter as a PDF: as signed, else as it is to be signed. */
export async function letterFile(services: PortingDeps, db: Db, request: PortRequest): Promise<Buffer> {
  const kept = await findLetter(db, request.id);
  if (kept) return Buffer.from(services.secrets.open(kept.pdf, portContext(request.id, 'letter')), 'base64');
  const letter = await currentLetter(services, db, request);
  return printed(letter, null, services.clock.now());
}

/** The words of the letter: as signed, else as they are to be signed. */
export async function letterWords(
  { secrets }: Pick<PortingDeps, 'secrets'>,
  db: Db,
  request: PortRequest,
): Promise<string> {
  const kept = await findLetter(db, request.id);
  if (kept) return secrets.open(kept.letter, portContext(request.id, 'letter_text'));
  return letterText(await currentLetter({ secrets }, db, request));
}

/** The letter as a PDF. The PDF library takes a fifth of a second to load, so it is loaded for the first letter. */
async function printed(...letter: Parameters<typeof LetterPdf.letterPdf>): Promise<Buffer> {
  const { letterPdf } = await import('./letter-pdf.ts');
  return letterPdf(...letter);
}
