/**
 * The protocol between the edge's main thread and a media shard: every message, at one place.
 *
 * Ids of legs, bridges and agents are given by the main thread, once each. Frames of audio never cross.
 */
import { answerers } from '#shared/answerer.ts';
import { codecNames } from '#shared/codecs.ts';
import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { MediaReport, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { turnEvents } from '#shared/edge-protocol/turn-events.ts';
import { type RecordingHeader, recordingFaults } from '#shared/recording/format.ts';
import {
  checkedObject,
  flag,
  integer,
  listOf,
  name,
  number,
  objectOf,
  oneOf,
  orNull,
  recordOf,
  type Shape,
  type Shaped,
  text,
} from '#shared/shapes.ts';
import { supervisionModes } from '#shared/supervision.ts';
import type { CallFacts, Manner } from '../call/ports/agents.ts';
import type { LegSample } from '../call/ports/media.ts';
import type { ByeExtras } from '../call/ports/signaling.ts';
import type { ConsultOrder, TransferOrder, TransferOutcome } from '../call/ports/transfer.ts';
import type { Notice, Request } from './channel.ts';

const notice = <T>(named: string, body: Shape<T>): Notice<T> => ({ name: named, body });
const request = <T, A>(named: string, body: Shape<T>, answer: Shape<A>): Request<T, A> => ({
  name: named,
  body,
  answer,
});

const id = integer(1);
const leg = id;
const agent = id;
const bridge = id;
const done = objectOf({});
const count = integer(0);

/** What calls read of a leg at any time. */
const session = {
  codec: orNull(oneOf(...codecNames)),
  keys: orNull(oneOf('telephone-event', 'none')),
  held: flag,
};

/** What a shard needs of the configuration. */
export type ShardConfig = Pick<
  EdgeConfig,
  'version' | 'organizations' | 'pathways' | 'allowed_private_targets'
>;

/** Gauges and counters of a shard. */
const state = objectOf({
  legs: count,
  ports_in_use: count,
  worker_deaths: count,
  worker_hangs: count,
  packets_here: count,
  legs_without_keys: count,
  packets_beyond_rate: count,
  skipped_frames: count,
  /** By Prometheus series; they only grow, or are 0. */
  counters: recordOf(number),
  gauges: recordOf(number),
});
export type ShardState = Shaped<typeof state>;

const octets: Shape<Uint8Array> = {
  fault: (value) => (value instanceof Uint8Array ? null : { at: '', what: 'must be octets' }),
};
const samples: Shape<Int16Array> = {
  fault: (value) => (value instanceof Int16Array ? null : { at: '', what: 'must be samples' }),
};

/** A text to be spoken. */
const spoken = { text, voice: orNull(text), language: text, sample_rate: count };
/** null: there was no more. */
const piece = objectOf({ samples: orNull(samples) });

/** From the main thread to a shard. */
export const toShard = {
  /** Before a call is admitted that needs it. */
  configure: notice('configure', checkedObject<ShardConfig>()),

  createLeg: request(
    'create_leg',
    objectOf({
      leg,
      call_id: name,
      codecs: listOf(oneOf(...codecNames)),
      browser: flag,
      beside: orNull(leg),
    }),
    done,
  ),
  answer: request('answer', objectOf({ leg, offer: text }), objectOf({ sdp: text, ...session })),
  offer: request('offer', objectOf({ leg, anew: flag }), objectOf({ sdp: text })),
  accept: request('accept', objectOf({ leg, answer: text }), objectOf(session)),
  attach: notice(
    'attach',
    objectOf({ leg, what: oneOf('agent', 'waiting', 'music', 'silence', 'nothing'), agent: orNull(agent) }),
  ),
  withdraw: notice('withdraw', objectOf({ leg })),
  hold: notice('hold', objectOf({ leg, on: flag })),
  pressKeys: request('press_keys', objectOf({ leg, digits: text }), done),
  /** A key press that came by SIP INFO. */
  pressed: notice('pressed', objectOf({ leg, digit: text, duration_ms: number })),
  tell: notice('tell', objectOf({ leg, side: oneOf('near', 'far'), words: samples })),
  silence: request('silence', objectOf({ leg }), objectOf({ ms: number })),
  report: request('report', objectOf({ leg }), objectOf({ report: orNull(checkedObject<MediaReport>()) })),
  closeLeg: notice('close_leg', objectOf({ leg })),
  record: notice(
    'record',
    objectOf({
      leg,
      header: checkedObject<RecordingHeader>(),
      data_key: octets,
      announcement: orNull(samples),
      pause_key: orNull(text),
    }),
  ),
  /** Itself, or with others that hear the leg. */
  pauseRecording: notice('pause_recording', objectOf({ leg, paused: flag, with_others: flag })),

  bridge: request(
    'bridge',
    objectOf({ bridge, one: leg, other: leg, transcode: flag }),
    objectOf({ mode: oneOf('relayed', 'transcoded') }),
  ),
  closeBridge: notice('close_bridge', objectOf({ bridge })),

  /** A room begins with its first leg, and ends with its last. */
  enterRoom: notice('enter_room', objectOf({ room: id, leg, tones: flag })),
  agentEntersRoom: notice('agent_enters_room', objectOf({ room: id, agent })),
  agentLeavesRoom: notice('agent_leaves_room', objectOf({ room: id, agent })),
  muteInRoom: notice('mute_in_room', objectOf({ room: id, leg, on: flag })),
  leaveRoom: notice('leave_room', objectOf({ room: id, leg })),

  /** A supervisor's leg at the leg of a call. */
  supervise: notice(
    'supervise',
    objectOf({ supervision: id, leg, supervisor: leg, agent: oneOf('near', 'far'), tone: flag }),
  ),
  superviseHow: notice('supervise_how', objectOf({ supervision: id, mode: oneOf(...supervisionModes) })),
  endSupervision: notice('end_supervision', objectOf({ supervision: id })),

  createAgent: notice(
    'create_agent',
    objectOf({ agent, settings: checkedObject<AgentSettings>(), call: checkedObject<CallFacts>() }),
  ),
  createConsult: notice(
    'create_consult',
    objectOf({
      agent,
      order: checkedObject<ConsultOrder>(),
      call: checkedObject<CallFacts>(),
      manner: orNull(checkedObject<Manner>()),
    }),
  ),
  prepare: request('prepare', objectOf({ agent }), done),
  startAgent: notice('start_agent', objectOf({ agent })),
  /** Of a supervisor. */
  instruct: notice('instruct', objectOf({ agent, text })),
  /** Told when it changes; at first they are. */
  keysPossible: notice('keys_possible', objectOf({ agent, possible: flag })),
  /** Told when it changes; at first it is not. */
  recorded: notice('recorded', objectOf({ agent, recorded: flag })),
  /** Everything that the agent has told before is with the main thread when this is answered. */
  closeAgent: request('close_agent', objectOf({ agent, reason: text }), done),

  /** Asked regularly: a shard that does not answer hangs. */
  state: request('state', objectOf({}), state),
  stop: request('stop', objectOf({}), done),
};

/** From a shard to the main thread. */
export const toMain = {
  /** The first message. */
  ready: notice('ready', objectOf({ codecs: listOf(oneOf(...codecNames)), ports: count })),
  /** The shard cannot be started; the sentence says what to do. */
  unusable: notice('unusable', objectOf({ why: text })),

  /** Its time is that of `thread-time.ts`. */
  sampled: notice('sampled', objectOf({ leg, sample: checkedObject<LegSample>() })),
  /** `browser`: by the connection of its browser. */
  legFailed: notice('leg_failed', objectOf({ leg, why: text, browser: flag })),
  recordingStopped: notice(
    'recording_stopped',
    objectOf({ leg, reason: oneOf(...recordingFaults), detail: text }),
  ),
  /** By the peer's key, or by order. */
  recordingPaused: notice('recording_paused', objectOf({ leg, paused: flag })),
  /** Its file is written no more, and has its final name. */
  recordingFinished: notice('recording_finished', objectOf({ recording: name })),
  bridgeFailed: notice('bridge_failed', objectOf({ bridge, why: text, sip_status: integer(300, 699) })),
  /** An SRTP key of a call, ours or its peer's. */
  keyKnown: notice('key_known', objectOf({ call_id: name, key: text })),

  /** A leg in a room begins to speak, or has stopped. */
  heardInRoom: notice('heard_in_room', objectOf({ room: id, leg, speaks: flag })),
  /** Those in it hear nothing any more. */
  roomFailed: notice('room_failed', objectOf({ room: id, why: text })),
  /** It has left the room. */
  roomAgentFailed: notice('room_agent_failed', objectOf({ room: id, why: text })),

  hangup: notice('hangup', objectOf({ agent, reason: text, extras: orNull(checkedObject<ByeExtras>()) })),
  agentKeys: request('agent_keys', objectOf({ agent, digits: text }), done),
  /** Answered when it is stored: only then the next one of the agent is sent. */
  said: request(
    'said',
    objectOf({
      agent,
      entries: listOf(checkedObject<TranscriptEntry>()),
      left_out: count,
      variables: orNull(checkedObject<CallVariables>()),
    }),
    done,
  ),
  /** Its time is that of `thread-time.ts`. */
  mark: notice('mark', objectOf({ agent, turn: count, what: oneOf(...turnEvents), at: number })),
  transfer: request(
    'transfer',
    objectOf({ agent, order: checkedObject<TransferOrder>() }),
    objectOf({ outcome: checkedObject<TransferOutcome>() }),
  ),
  recording: notice('recording', objectOf({ agent, step: oneOf('pause', 'resume') })),
  join: notice('join', objectOf({ agent })),
  answeredBy: notice('answered_by', objectOf({ agent, who: oneOf(...answerers) })),
  agentFailed: notice('agent_failed', objectOf({ agent, why: text })),

  /** Speech is synthesized, and kept for all calls, in one place. */
  speak: request('speak', objectOf(spoken), objectOf({ samples })),
  /**
   * The same in pieces, which the shard fetches one after the other, each when it has taken the one before: so a
   * shard that is slow holds back no more than the provider does. The answers have the first piece, and the next one.
   */
  beginSpeech: request('begin_speech', objectOf({ speech: id, ...spoken }), piece),
  nextPiece: request('next_piece', objectOf({ speech: id }), piece),
  stopSpeech: notice('stop_speech', objectOf({ speech: id })),
  /** A text that may be needed. */
  premake: notice('premake', objectOf(spoken)),
  /** A place among the requests to language models, whose number is limited for the whole edge. */
  enterGate: request('enter_gate', objectOf({ place: id, wait_ms: number }), objectOf({ entered: flag })),
  leaveGate: notice('leave_gate', objectOf({ place: id })),
};
