/** An INVITE while it is checked. */
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { InboundTrunk, NumberConfig } from '#shared/edge-protocol/numbers.ts';
import type { LogThinning } from '#shared/log-thinning.ts';
import type { PhoneClaims } from '#shared/phone-session.ts';
import type { RefusalReason } from '#shared/refusals.ts';
import type { TerminationCode } from '#shared/termination.ts';
import type { AgentTestCall, AgentTestCalls } from '../../call/agent-test-calls.ts';
import type { Calls } from '../../call/calls.ts';
import type { DialogOwner, Dialogs } from '../session/dialogs.ts';
import type { Environment } from '../srf/environment.ts';
import type { NumberIndex } from '../srf/numbers.ts';
import type { Replaces } from '../srf/replaces.ts';
import type { SrfRequest } from '../srf/srf.ts';
import type { DigestGate, DigestVerdict } from './digest/digest-gate.ts';
import type { PhoneGate, PhoneVerdict } from './phone/phone-gate.ts';
import type { RefusedInvites } from './refused-invites.ts';
import type { RefusedRecords } from './refused-records.ts';
import type { IsBoundAt, SourceIndex } from './sources.ts';
import type { Strangers } from './strangers.ts';

/** The configuration, in the form used to check an INVITE. */
export interface Routing {
  readonly config: EdgeConfig;
  readonly numbers: NumberIndex;
  readonly sources: SourceIndex;
}

/** The layer that takes the calls. */
export type CallAcceptor = Pick<Calls, 'refuse' | 'endAll' | 'draining' | 'closedFor' | 'unrecordable'> & {
  admit(...call: Parameters<Calls['admit']>): unknown;
  readonly supervisions: Pick<Calls['supervisions'], 'obstacle'>;
};

export interface InboundDeps {
  readonly environment: Environment;
  readonly dialogs: Dialogs;
  readonly calls: CallAcceptor;
  readonly strangers: Strangers;
  readonly digest: DigestGate;
  readonly phones: PhoneGate;
  readonly refusedRecords: RefusedRecords;
  /** Absent: refused INVITEs are not reported. */
  readonly refusedInvites?: Pick<RefusedInvites, 'note'> | undefined;
  readonly refusedLines: LogThinning;
  /** Calls of the edge to itself; absent: the edge makes none. */
  readonly agentTestCalls?: AgentTestCalls | undefined;
  /** null until the first configuration arrives. */
  readonly routing: () => Routing | null;
  readonly isBoundAt: IsBoundAt;
  /** Counts an INVITE that was rejected before it became a call. */
  readonly refused: (reason: string) => void;
}

/** An INVITE and the results of the checks so far. */
export interface IncomingInvite {
  readonly request: SrfRequest;
  /** The caller's address (source-of.ts). */
  readonly source: string;
  /** Whether a trusted proxy passed the request on, which must not be blocked for its callers. */
  readonly proxied: boolean;
  readonly dialled: string;
  readonly deps: InboundDeps;
  readonly routing: Routing | null;
  number?: NumberConfig;
  trunk?: InboundTrunk | null;
  /** Whether the source may call the number. */
  admitted?: boolean;
  /** Set once its credentials were looked at, which uses them up. */
  verdict?: DigestVerdict;
  /** The same of a browser's. */
  phoneVerdict?: PhoneVerdict;
  /** What admitted the call of a browser. */
  phone?: PhoneClaims;
  /** Set for a call of our own. */
  test?: AgentTestCall;
  /** Its parsed Replaces header. */
  replaces?: Replaces;
  /** The answered dialog that it names. */
  replaced?: DialogOwner | undefined;
}

/** Why an INVITE is rejected. With `code` it is recorded as a failed call to its number. */
export interface Rejection {
  /** Counted in the metric. */
  readonly reason: RefusalReason | 'stale_nonce';
  readonly status: number;
  readonly phrase?: string;
  readonly headers?: Record<string, string>;
  readonly code?: TerminationCode;
  /** The reason as it is reported, when it is another one. */
  readonly reported?: RefusalReason;
  /** Additional detail for the record. */
  readonly detail?: string;
  /** Whether the attempt counts against the source. */
  readonly suspicious?: boolean;
  /** How many attempts it counts for; default 1. */
  readonly weight?: number;
}

export type Check = (invite: IncomingInvite) => Rejection | null;
