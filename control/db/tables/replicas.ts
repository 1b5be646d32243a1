/** What the control planes on one database tell each other. */
import type { Generated } from 'kysely';
import type { Json } from '../json.ts';

/** Ids ascend in the order of the commits. */
export interface ReplicaMessageRow {
  id: Generated<number>;
  topic: string;
  /** a replica, or the process of a command line */
  sender: string;
  /** null: every replica but the sender */
  recipient: string | null;
  body: Json;
  /** ms since the epoch, by the database's clock */
  sent_at: number;
}

/** The newest deleted message: one row, or none. */
export interface ReplicaMessagesPrunedRow {
  one: 1;
  last_id: number;
}

export interface ReplicasTables {
  replica_messages: ReplicaMessageRow;
  replica_messages_pruned: ReplicaMessagesPrunedRow;
}
