import type { Clock } from '#shared/clock.ts';
import type { DialogTable } from '../dialog/table.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { Source } from '../drachtio-port/lines.ts';
import type { TransactionTable } from '../transaction/table.ts';
import type { TransportLayer } from '../transport/layer.ts';
import type { Metrics } from '../transport/metrics.ts';
import type { DialogEnds } from './dialog-ends.ts';
import type { Identity } from './identity.ts';
import type { Refusals } from './refusals.ts';
import type { Session, SessionsAwaitingAck } from './session.ts';
import type { TracedMessages } from './traced-messages.ts';

export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/** The applications, as the user agent core sees them. */
interface Applications {
  /** The next application to receive a request with this verb (lower case). */
  pick(verb: string): AppClient | null;
  cdr(kind: 'attempt' | 'start' | 'stop', source: Source, extra: string | null, bytes: Buffer): void;
}

/** State shared by the two halves of the user agent core, `Uas` and `Uac`. */
export interface Context {
  readonly clock: Clock;
  readonly identity: Identity;
  readonly messages: TracedMessages;
  readonly transport: Pick<TransportLayer, 'connect' | 'find' | 'block' | 'limits'>;
  readonly transactions: TransactionTable;
  readonly sessions: DialogTable<Session>;
  /** Those with a 2xx of ours that has no ACK yet. */
  readonly awaitingAck: SessionsAwaitingAck;
  /** The only code that removes sessions from the table. */
  readonly ends: DialogEnds;
  readonly applications: Applications;
  readonly metrics: Metrics;
  readonly refusals: Pick<Refusals, 'count'>;
  readonly log: Log;
  /** Concurrent server transactions; requests above the limit get 503. */
  readonly maxTransactions: number;
}
