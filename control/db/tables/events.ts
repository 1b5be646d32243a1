/** What happened in organizations that are being followed (control/events). */
import type { Json } from '../json.ts';

/** An organization whose events are stored, because somebody reads them or did lately. */
export interface EventWindowRow {
  org_id: string;
  /** ms since the epoch: when the window began. Distinguishes it from an earlier one of the organization. */
  epoch: number;
  /** Events stored in this window so far; their numbers have no gaps. */
  last_seq: number;
  /** Octets of all of them. */
  last_octet: number;
  /** Limits of what is kept. */
  most_events: number;
  most_octets: number;
  /** ms since the epoch: when the window ends unless somebody reads. */
  read_until: number;
}

/** Type, subject, and the event as JSON without its id. */
export type StoredEvent = readonly [string, Readonly<Record<string, string>>, string];

/** Events of one transaction. */
export interface EventRow {
  org_id: string;
  /** of the last event */
  seq: number;
  first_seq: number;
  /** `last_octet` of the window after them */
  octet: number;
  /** ms since the epoch */
  at: number;
  body: Json<StoredEvent[]>;
}

export interface EventsTables {
  event_windows: EventWindowRow;
  events: EventRow;
}
