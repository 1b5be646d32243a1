/**
 * A call as its parts see it. `Call` creates the parts; they depend on this interface, by which they reach the call and
 * each other.
 */

import type { Answerer } from '#shared/answerer.ts';
import type { Timer } from '#shared/clock.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { ConferenceEvent, ConferenceState, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { CallPlan } from './call-plan.ts';
import type { CallInput } from './call-state.ts';
import type { Termination } from './ending.ts';
import type { Log } from './log.ts';
import type { AgentLeg, AgentMark } from './ports/agents.ts';
import type { AudioEndpoint, MediaLeg } from './ports/media.ts';
import type { ParkOrder } from './ports/park.ts';
import type { PeerRefer } from './ports/refer.ts';
import type { NextHop } from './ports/routes.ts';
import type { DialogLeg, LegFacts } from './ports/signaling.ts';
import type { TransferOrder, TransferOutcome } from './ports/transfer.ts';
import type { CommandRefused } from './refused.ts';
import type { Parting } from './transfer/target-plan.ts';

export interface LiveCall {
  readonly id: string;
  readonly direction: LegFacts['direction'];
  readonly plan: CallPlan;
  readonly facts: LegFacts;
  readonly log: Log;
  readonly media: MediaLeg | null;
  readonly hop: NextHop | null;
  readonly answered: boolean;
  readonly up: boolean;
  readonly termination: Termination | null;
  /** Resolves when the closed record is stored; null: it is, or the call goes on. Never rejects. */
  readonly closing: Promise<undefined> | null;
  readonly why: string;
  accepts(input: CallInput): boolean;
  input(input: CallInput): void;
  answer(): void;
  end(termination: Termination): void;
  attempt(what: string, work: () => void): void;
  guarded(work: () => void): void;
  readonly ledger: LiveLedger;
  readonly measurements: LiveMeasurements;
  readonly agent: LiveAgent;
  readonly dialog: LiveDialog;
  readonly limits: LiveLimits;
  readonly transfers: LiveTransfers;
  readonly recording: LiveRecording;
  readonly hold: LiveHold;
}

/** Of {@link CallLedger}. */
interface LiveLedger {
  readonly closed: boolean;
  msSinceStart(at: number): number;
  extracted: CallVariables;
  readonly variables: CallVariables;
  mappable(): CallVariables;
  extract(values: CallVariables): void;
  transcript(...entries: TranscriptEntry[]): void;
  linesLeftOut(count: number): void;
  note(text: string): void;
  heardInBye(variables: CallVariables): void;
  answeredBy(who: Answerer): void;
  handedOver(target: string): void;
  inConference(state: ConferenceState | null, event?: ConferenceEvent): void;
}

/** Of {@link CallMeasurements}. */
interface LiveMeasurements {
  mark(agent: object, mark: AgentMark): void;
}

/** Of {@link CallRecording}. */
interface LiveRecording {
  /** Whether the call is recorded, or will be once it is up. */
  readonly isOn: boolean;
  readonly pauses: boolean;
  followOthers(): void;
  ready(): Promise<unknown> | null;
  continue(before: Pick<LiveRecording, 'pauses'>): void;
  succeed(before: readonly LiveCall[]): void;
  carryOut(step: 'pause' | 'resume'): boolean;
}

/** What joins a call with one other call, in the place of an agent. */
export interface Link {
  readonly other: LiveCall;
  readonly parting: Parting;
  /** Both go on without each other, and neither ends with the other. They are separated already. */
  dissolve(): void;
}

/** Of {@link Pairing}. */
export interface LivePairing {
  readonly parting: Parting;
  readonly over: boolean;
  /** The call stays what it is until it is joined. */
  readonly joining: boolean;
  /** Several calls may hear it. */
  readonly inRoom: boolean;
  /** The other calls that hear this one, or are about to. */
  company(callId: string): readonly LiveCall[];
  /** Why the call cannot be changed now, a sentence. */
  describe(callId: string): string;
  /** All go on without each other. */
  dissolve(): void;
  left(callId: string): void;
}

/** Of {@link CallHold}. */
interface LiveHold {
  readonly active: boolean;
  readonly slot: string | null;
  readonly parked: ParkOrder | null;
  readonly obstacle: CommandRefused | null;
  release(): void;
  leave(): void;
  notJoined(): void;
}

/** Of {@link CallAgent}. */
interface LiveAgent {
  readonly present: boolean;
  readonly endpoint: AudioEndpoint | null;
  pause(): void;
  playMusic(): void;
  keepSilent(): void;
  standBack(on: boolean): void;
  instruct(text: string): boolean;
  resume(): void;
  dismiss(reason: string): void;
  close(reason: string): void;
  moveTo(other: LiveCall): void;
  take(seat: SeatedAgent): void;
}

/** An agent with its call, which can move to another call ({@link AgentSeat}). */
export interface SeatedAgent {
  readonly agent: AgentLeg;
  start(): void;
  moveTo(call: LiveCall): void;
  close(reason: string): void;
}

/** Of {@link CallDialog}. */
interface LiveDialog {
  readonly leg: DialogLeg | null;
  readonly isTakenOver: boolean;
  readonly peerIp: string | null;
  followHold(): void;
}

/** Of {@link TimeLimits}. */
interface LiveLimits {
  readonly deadline: number | null;
  readonly silence: { expectMedia(): void; expectNothing(): void };
  after(ms: number, fire: () => void): Timer;
  endBy(deadline: number | null): void;
}

/** Of {@link Transfers}. */
interface LiveTransfers {
  readonly bound: boolean;
  readonly busy: boolean;
  readonly joining: boolean;
  readonly company: readonly LiveCall[];
  readonly obstacle: string | null;
  readonly parting: Parting | null;
  readonly link: Link | null;
  linkTo(target: LiveCall): Link | null;
  reserve(): void;
  release(): void;
  postpone(work: () => void): boolean;
  readonly withOne: boolean;
  pairWith(pairing: LivePairing): boolean;
  goAlone(): boolean;
  readonly leaving: boolean;
  readonly handingOver: Promise<TransferOutcome> | null;
  order(order: TransferOrder): Promise<TransferOutcome>;
  referred(refer: PeerRefer, replaced?: DialogLeg | null): void;
  referRefused(target: string, reason: string): void;
  callerLeft(): boolean;
  leaveToPeer(): void;
  free(): void;
}
