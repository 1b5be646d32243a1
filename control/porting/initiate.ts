/** A new port request: everything checked before it is accepted, and its initial state (contract 5.3). */
import { randomBytes } from 'node:crypto';
import type { CanonicalCarrierInformation, PortInitiate } from '#shared/api/porting.ts';
import { ApiError, type ErrorItem, errorItem } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import { type Db, type PortRequestRow, toJson } from '../db/index.ts';
import { recordEvents } from '../events/index.ts';
import { findOrganization, hashKey } from '../organizations/index.ts';
import type { CheckPortability } from './check.ts';
import type { PortingDeps } from './deps.ts';
import { missingDocuments, referDocuments } from './documents-store.ts';
import { signatureExpirySubject } from './expiry-store.ts';
import { happeningOfPort } from './happenings.ts';
import { canonicalInformation, targetDate } from './initiate-rules.ts';
import { queueMails } from './mails-store.ts';
import { changePorts } from './moves.ts';
import { signatureMail } from './notice-rules.ts';
import { requireNumbers } from './portability-rules.ts';
import { portContext, sealDetails } from './sealed-store.ts';
import { insertHistory, insertNumbers, insertRequest, numbersInProgress } from './store.ts';
import { signatureUrl } from './views.ts';

/** Contract 15. */
const signatureDays = 30;
const dayMs = 24 * 60 * 60 * 1000;

export interface NewRequest {
  readonly id: string;
  readonly url: string;
  readonly numbers: readonly string[];
}

/** A well-formed request. */
interface Wanted {
  readonly orgId: string;
  readonly keyId: string | null;
  /** The author, for the audit log. */
  readonly by: Actor;
  readonly numbers: readonly string[];
  readonly information: CanonicalCarrierInformation;
  readonly targetDate: string;
  readonly documents: readonly string[];
  readonly pin: string | null;
}

/**
 * @param answer builds the response, in the transaction that stores the request
 * @throws ApiError as contract 5.3 lists them; QUOTA_EXCEEDED
 */
export async function initiatePort<T>(
  services: PortingDeps,
  check: CheckPortability,
  caller: Pick<Wanted, 'orgId' | 'keyId' | 'by'>,
  body: PortInitiate,
  answer: (db: Db, created: NewRequest) => Promise<T>,
): Promise<T> {
  const numbers = requireNumbers(body.phone_numbers);
  const information = canonicalInformation(body.losing_carrier_information);
  const documents = [...new Set(body.documents ?? [])];
  const { date, errors } = dateOrError(body, services.clock.now());
  const results = await check(numbers);
  const wanted = { ...caller, numbers, information, targetDate: date, documents, pin: body.pin ?? null };
  return changePorts(services, async (db) => {
    const inNeed = results.filter((one) => one.portable && one.pin_required).map((one) => one.phone_number);
    if (inNeed.length > 0 && wanted.pin === null)
      errors.push(errorItem('PIN_REQUIRED', { phone_numbers: inNeed }));
    const missing = await missingDocuments(db, caller.orgId, documents);
    if (missing.length > 0) errors.push(errorItem('DOCUMENT_NOT_FOUND', { documents: missing }));
    const refused = results.filter((one) => !one.portable).map((one) => one.phone_number);
    if (refused.length > 0) errors.push(errorItem('NOT_PORTABLE', { phone_numbers: refused }));
    const [first, ...others] = errors;
    if (first) throw ApiError.many([first, ...others]);
    const running = await numbersInProgress(db, numbers);
    if (running.length > 0) throw ApiError.of('PORT_ALREADY_IN_PROGRESS', { phone_numbers: running });
    await services.quotas.numberRoom(db, caller.orgId, numbers);
    return answer(db, await store(services, db, wanted));
  }).then((answered) => {
    services.announcements.announce(signatureExpirySubject);
    return answered;
  });
}

/** A date that is too early is reported together with the other errors. */
function dateOrError(body: PortInitiate, now: number): { date: string; errors: ErrorItem[] } {
  try {
    return { date: targetDate(body, now), errors: [] };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'TARGET_PORT_DATE_TOO_EARLY') throw error;
    return { date: '', errors: [...error.items] };
  }
}

async function store(services: PortingDeps, db: Db, wanted: Wanted): Promise<NewRequest> {
  const { clock, secrets } = services;
  const { information, keyId, numbers, orgId } = wanted;
  const id = `port_${newId()}`;
  const token = randomBytes(32).toString('base64url');
  const at = clock.now();
  const now = new Date(at).toISOString();
  const row: Omit<PortRequestRow, 'seq'> = {
    id,
    org_id: orgId,
    status: 'waiting_for_signature',
    details: sealDetails(secrets, id, information),
    pin: wanted.pin === null ? null : secrets.seal(wanted.pin, portContext(id, 'pin')),
    target_port_date: wanted.targetDate,
    foc_date: null,
    reason: null,
    token_hash: hashKey(token),
    token: secrets.seal(token, portContext(id, 'token')),
    signature_expires_at: new Date(at + signatureDays * dayMs).toISOString(),
    signed_at: null,
    signed_name: null,
    signer_address: null,
    signer_agent: null,
    letter_hash: null,
    created_at: now,
    updated_at: now,
  };
  await insertRequest(db, row);
  await insertNumbers(db, id, numbers);
  const states = numbers.map((number) => ({ number, status: row.status }));
  await recordEvents(db, [happeningOfPort(row, states, now)]);
  await insertHistory(db, {
    request_id: id,
    at: now,
    from_status: null,
    to_status: 'waiting_for_signature',
    actor: 'customer',
    actor_id: keyId,
    reason: null,
    numbers: toJson(numbers),
  });
  await recordChange(db, clock, wanted.by, { orgId, area: 'porting', subject: id, action: 'initiate' });
  await referDocuments(db, id, wanted.documents);
  const url = signatureUrl(services, token);
  const organization = await findOrganization(db, orgId);
  const mail = signatureMail({
    requestId: id,
    representative: `${information.first_name} ${information.last_name}`,
    organization: organization.name,
    numbers,
    url,
    expiresAt: row.signature_expires_at,
  });
  await queueMails(db, services, row, 'signature', [information.authorized_representative_email], mail);
  return { id, url, numbers };
}
