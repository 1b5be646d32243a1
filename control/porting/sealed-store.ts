/**
 * The sealed columns of port requests: the customer, address, account, PIN, signer and letter. Numbers, states and
 * dates stay in plain text, because they are searched.
 */
import { sql } from 'kysely';
import type { CanonicalCarrierInformation } from '#shared/api/porting.ts';
import {
  type Database,
  type Db,
  openJson,
  type PortRequestRow,
  type SealedJson,
  type SecretBox,
  sealEarlier,
  sealJson,
  sealText,
} from '../db/index.ts';

type Sealed =
  | 'details'
  | 'pin'
  | 'token'
  | 'signed_name'
  | 'signer_address'
  | 'signer_agent'
  | 'letter'
  | 'letter_text'
  | 'mail';

/** The sealing context of a part of a request (db/secrets.ts). @param what `letter` is the PDF */
export function portContext(requestId: string, what: Sealed): string {
  return `port:${requestId}:${what}`;
}

export function sealDetails(
  secrets: SecretBox,
  requestId: string,
  information: CanonicalCarrierInformation,
): SealedJson {
  return sealJson(secrets, information, portContext(requestId, 'details'));
}

export function openDetails(
  secrets: SecretBox,
  row: Pick<PortRequestRow, 'id' | 'details'>,
): CanonicalCarrierInformation {
  return openJson<CanonicalCarrierInformation>(secrets, row.details, portContext(row.id, 'details'));
}

type Signer = Pick<PortRequestRow, 'signed_name' | 'signer_address' | 'signer_agent'>;
const signerColumns = ['signed_name', 'signer_address', 'signer_agent'] as const;

/** Null stays null. */
export function sealSigner(secrets: SecretBox, requestId: string, signer: Signer): Signer {
  const sealed = signerColumns.map((column) => {
    const value = signer[column];
    return [column, value === null ? null : secrets.seal(value, portContext(requestId, column))];
  });
  return Object.fromEntries(sealed);
}

export function openColumn(
  secrets: SecretBox,
  row: Pick<PortRequestRow, 'id' | 'pin' | 'signed_name'>,
  column: 'pin' | 'signed_name',
): string | null {
  const value = row[column];
  return value === null ? null : secrets.open(value, portContext(row.id, column));
}

/**
 * Seals what earlier versions stored in plain text; a migration does not have the key. None of it is left in the
 * database's file. Returns how many rows there were.
 */
export function sealEarlierRows(database: Database, secrets: SecretBox): Promise<number> {
  return sealEarlier(database, (db, most) => sealSome(db, most, secrets));
}

async function sealSome(db: Db, most: number, secrets: SecretBox): Promise<number> {
  const requests = await db
    .selectFrom('port_requests')
    .select(['id', 'details', ...signerColumns])
    .where(sql.ref<string>('details'), 'like', '{%')
    .limit(most)
    .execute();
  for (const { id, details, ...signer } of requests) {
    const sealed = {
      details: sealText(secrets, details, portContext(id, 'details')),
      ...sealSigner(secrets, id, signer),
    };
    await db.updateTable('port_requests').set(sealed).where('id', '=', id).execute();
  }
  const letters = await db
    .selectFrom('port_letters')
    .select(['request_id', 'letter'])
    .where('letter', 'not like', 'v1.%')
    .limit(most)
    .execute();
  for (const { request_id, letter } of letters) {
    const sealed = secrets.seal(letter, portContext(request_id, 'letter_text'));
    await db
      .updateTable('port_letters')
      .set({ letter: sealed })
      .where('request_id', '=', request_id)
      .execute();
  }
  return requests.length + letters.length;
}
