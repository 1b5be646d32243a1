/** The control planes on one database, and what they tell each other. */
import type { Generated } from 'kysely';
import type { Json } from '../json.ts';

/** A control plane. Its id is new at every start; it lives while it has the lease of its presence (../leases.ts). */
export interface ReplicaRow {
  id: string;
  /** Where the others reach its HTTP port. */
  peer_host: string;
  peer_port: number;
  /** ms since the epoch, by the database's clock */
  started_at: number;
}

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
  replicas: ReplicaRow;
  replica_messages: ReplicaMessageRow;
  replica_messages_pruned: ReplicaMessagesPrunedRow;
}
