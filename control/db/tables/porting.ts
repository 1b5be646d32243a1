/** Port requests with their documents, letters and messages. */
import type { Generated } from 'kysely';
import type { Json, SealedJson } from '../json.ts';
import type { DeliveryColumns, Flag, IsoTime } from './columns.ts';

export type PortStatus =
  | 'waiting_for_signature'
  | 'submitted'
  | 'in_progress'
  | 'completed'
  | 'canceled'
  | 'failed';

export interface PortRequestRow {
  /** In order of creation. */
  seq: Generated<number>;
  /** `port_<uuid>` */
  id: string;
  org_id: string;
  /** Derived from those of the numbers. */
  status: PortStatus;
  /** JSON with the canonical names of contract 5.3; sealed, like the signer below (porting/sealed-store.ts). */
  details: SealedJson;
  /** Sealed. */
  pin: string | null;
  /** `YYYY-MM-DD` */
  target_port_date: string;
  foc_date: string | null;
  /** Reason of the last failure or cancellation. */
  reason: string | null;
  /** SHA-256 of the signature token, hexadecimal. */
  token_hash: string;
  /** Sealed; null once signing is no longer possible. */
  token: string | null;
  signature_expires_at: IsoTime;
  signed_at: IsoTime | null;
  signed_name: string | null;
  signer_address: string | null;
  signer_agent: string | null;
  /** SHA-256 of the letter's text as shown, hexadecimal. */
  letter_hash: string | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface PortNumberRow {
  request_id: string;
  position: number;
  number: string;
  status: PortStatus;
  /** Not terminal. */
  open: Flag;
}

export interface PortHistoryRow {
  id: Generated<number>;
  request_id: string;
  at: IsoTime;
  from_status: PortStatus | null;
  to_status: PortStatus;
  actor: 'customer' | 'signer' | 'operator' | 'system';
  /** Id of the API key, if any. */
  actor_id: string | null;
  reason: string | null;
  /** JSON array. */
  numbers: Json<string[]>;
}

export interface PortDocumentRow {
  /** `doc_<uuid>` */
  id: string;
  org_id: string;
  /** In the documents folder, or of its parts in `port_document_parts`. */
  file_name: string;
  media_type: string;
  /** Bytes, before encryption. */
  size: number;
  /** SHA-256, hexadecimal. */
  hash: string;
  created_at: IsoTime;
  /** Whether a request references it. */
  referenced: Flag;
  /** Being deleted. */
  expired_at: IsoTime | null;
}

/** A part of a document's encrypted file, where files are in the database. */
export interface PortDocumentPartRow {
  file_name: string;
  /** from 0 */
  number: number;
  bytes: Buffer;
}

export interface PortRequestDocumentRow {
  request_id: string;
  document_id: string;
  position: number;
}

/** A signed letter of authorization. */
export interface PortLetterRow {
  request_id: string;
  /** The exact text shown; sealed. */
  letter: string;
  /** Sealed base64. */
  pdf: string;
  /** SHA-256 of the PDF, hexadecimal. */
  pdf_hash: string;
  created_at: IsoTime;
}

/** A message about a port request to one person. */
export interface PortMailRow extends DeliveryColumns {
  id: string;
  org_id: string;
  request_id: string;
  kind: 'signature' | 'status';
  recipient: string;
  subject: string;
  /** Sealed: it may contain the signing link. */
  text: string;
}

/** The order for one request at the carrier's porting API. */
export interface PortOrderRow {
  /** The port request's id. */
  id: string;
  org_id: string;
  state: 'submitting' | 'following' | 'canceling' | 'done';
  carrier_order_id: string | null;
  /** Consecutive failures. */
  attempts: number;
  /** Null: nothing left to do. */
  next_attempt_at: IsoTime | null;
  last_error: string | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface PortingTables {
  port_requests: PortRequestRow;
  port_numbers: PortNumberRow;
  port_history: PortHistoryRow;
  port_documents: PortDocumentRow;
  port_document_parts: PortDocumentPartRow;
  port_request_documents: PortRequestDocumentRow;
  port_letters: PortLetterRow;
  port_mails: PortMailRow;
  port_orders: PortOrderRow;
}
