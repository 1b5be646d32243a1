/** Phone sessions, and the keys that their credentials are made with. */
import type { SupervisionMode } from '#shared/supervision.ts';
import type { Json } from '../json.ts';
import type { IsoTime } from './columns.ts';
import type { AuditEntryRow } from './organizations.ts';

export interface Supervision {
  readonly mode: SupervisionMode;
  readonly tone: boolean;
  readonly by: { readonly kind: AuditEntryRow['actor_kind']; readonly key: string | null };
}

/** Its credentials are not stored: the user name says all of this, and the password follows from it and the key. */
export interface PhoneSessionRow {
  id: string;
  org_id: string;
  /** The one edge that accepts it. */
  edge_id: string;
  /** Whose agent may be called, or that calls `called`; of one for an agent: `agent`. */
  number: string;
  /** Who is called over a trunk, instead of the number's agent. */
  called: string | null;
  /** The agent that may be called, instead of a number's. */
  pathway_id: string | null;
  pathway_version: number | null;
  persona_id: string | null;
  /** The call that it joins as its supervisor, instead of calling anybody. */
  supervises: string | null;
  /** What it does there, whether a tone told of it, and who has created it. */
  supervision: Json<Supervision> | null;
  caller: string;
  purpose: string | null;
  /** How many may be made. */
  calls: number;
  /** How many were, as far as edges have reported them. */
  calls_made: number;
  /** The newest of them. */
  last_call_id: string | null;
  created_at: IsoTime;
  expires_at: IsoTime;
  revoked_at: IsoTime | null;
}

/** Of an organization that has had a phone session. */
export interface PhoneKeyRow {
  org_id: string;
  /** The key is derived from the deployment's; the next generation replaces it. */
  generation: number;
  /** When this generation replaced the one before. */
  since: IsoTime;
  /** Revoked sessions that had not expired when the last one was revoked. */
  revoked: Json<{ id: string; expires_at: IsoTime }[]>;
}

export interface PhoneSessionsTables {
  phone_sessions: PhoneSessionRow;
  phone_keys: PhoneKeyRow;
}
