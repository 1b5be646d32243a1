/**
 * The states of an outbound leg, as data; outbound-leg.ts performs the actions.
 *
 *                            again: another INVITE
 *             +-----------------------------------------------+
 *             v                                               |
 *     idle -> sending --accepted--> calling --1xx--> proceeding --failure--> judging --refused--> over
 *       |       |                     | |                | |                    ^
 *       |       | cancel,             | | reliable answer| |                    |
 *       |       | no response         | +--> early <-----+ |  failure ----------+  (also from calling, early, changed)
 *       |       v                     |       | offered    |
 *       |    withdrawn                |       v            |
 *       |       | accepted:           |     changed        |  2xx (also from calling, early, changed)
 *       |       | send CANCEL         |       |            +---------> up --bye--> leaving --BYE answered--> over
 *       |       v       cancel        |       |                                       ^
 *       |    canceled <---------------+-------+ (also from proceeding)                |
 *       |       |                                                                     |
 *       |       +-- 2xx: send ACK and BYE --------------------------------------------+
 *       |       +-- failure: over
 *       +-- cancel: over              BYE of peer (up) or engine, dialog forgotten, engine lost: over, from everywhere
 *
 * `sending`: the INVITE is passed to the engine. `early`: a reliable provisional response has answered our offer;
 * `changed`: the peer has sent an offer in that early dialog, so that the answer in the 2xx is outdated. `withdrawn`:
 * the call is given up before the engine has accepted the INVITE. The engine holds a CANCEL until there is a
 * provisional response (RFC 3261 section 9.1).
 */
import { ignored, type Moves, machine, to } from '#shared/state-machine.ts';
import {
  type DialogAction,
  type DialogInput,
  endOfDialog,
  established,
  notEstablished,
} from './dialog-rows.ts';

export type OutboundLegState =
  | 'idle'
  | 'sending'
  | 'calling'
  | 'proceeding'
  | 'early'
  | 'changed'
  | 'judging'
  | 'withdrawn'
  | 'canceled'
  | 'up'
  | 'leaving'
  | 'over';

export type OutboundLegInput =
  | DialogInput
  | 'start'
  /** Orders of the call. */
  | 'cancel'
  /** Outcome of the INVITE. */
  | 'accepted'
  | 'not sent'
  | 'no response'
  | 'provisional'
  /** A reliable provisional response, and one with the first answer to our offer in its dialog (RFC 3262). */
  | 'reliable'
  | 'reliable answer'
  /** A reliable provisional response that was processed before, or is out of order. */
  | 'repeated'
  | '2xx'
  /** A final response from 300 on, and what it means: another attempt, or the end. */
  | 'failure'
  | 'again'
  | 'refused'
  /** The peer has sent an offer, and it is being answered. */
  | 'offered'
  | 'UPDATE'
  /** The session cannot continue. */
  | 'session lost';

export type OutboundLegAction =
  | DialogAction
  /** Also starts to wait for a first response. */
  | 'send INVITE'
  | 'stop waiting'
  | 'learn INVITE'
  | 'send CANCEL'
  /** Keeps the reason for the CANCEL, and for the BYE if a 2xx crosses it. */
  | 'note reason'
  | 'send PRACK'
  | 'send ACK'
  | 'judge failure'
  | 'learn early dialog'
  /** Passes an UPDATE to the session; an offer from another fork than the one with our media is rejected. */
  | 'pass UPDATE'
  | 'pass UPDATE of fork'
  /** Passes a request that needs no answered call; a REFER is rejected. */
  | 'pass early request'
  | 'begin session'
  | 'pass ACK'
  | 'report not sent'
  | 'report no response'
  | 'report progress'
  | 'report answered'
  /** The same, but an answer from the early dialog is not applied again. */
  | 'report answered again'
  | 'report refusal'
  | 'report loss';

/** What cannot come before the 2xx, and what ends the leg before it. */
function unanswered<const State extends string>(state: State) {
  return {
    ...notEstablished(state),
    // RFC 3261 section 15: a callee does not end an early dialog by BYE.
    BYE: to(state, 'answer 481'),
    NOTIFY: to(state, 'answer 481'),
    request: to(state, 'answer 481'),
    'engine BYE': to('over', 'release'),
    forgotten: to('over', 'release'),
    abandoned: to('over', 'release'),
    ...ignored(state, 'ACK', 'session lost'),
  };
}

/** The same while there may be an early dialog: a 481 would tell the callee that there is none (RFC 3261 12.2.2). */
function ringing<const State extends string>(state: State) {
  return {
    ...unanswered(state),
    NOTIFY: to(state, 'pass early request'),
    request: to(state, 'pass early request'),
  };
}

export const outboundLeg = machine('an outbound leg', {
  idle: {
    ...unanswered('idle'),
    start: to('sending', 'send INVITE'),
    cancel: to('over', 'release'),
    UPDATE: to('idle', 'answer 481'),
  },
  sending: {
    ...ringing('sending'),
    accepted: to('calling', 'learn INVITE'),
    'not sent': to('over', 'release', 'report not sent'),
    'no response': to('withdrawn', 'note reason', 'report no response'),
    cancel: to('withdrawn', 'stop waiting', 'note reason'),
    UPDATE: to('sending', 'pass UPDATE'),
    ...ignored('sending', 'offered'),
  },
  calling: {
    ...ringing('calling'),
    provisional: to('proceeding', 'stop waiting', 'report progress'),
    reliable: to('proceeding', 'stop waiting', 'send PRACK', 'report progress'),
    'reliable answer': to('early', 'stop waiting', 'send PRACK', 'learn early dialog', 'report progress'),
    repeated: to('proceeding', 'stop waiting'),
    '2xx': to('up', 'stop waiting', 'send ACK', 'begin session', 'report answered'),
    failure: to('judging', 'stop waiting', 'judge failure'),
    'no response': to('canceled', 'note reason', 'send CANCEL', 'report no response'),
    cancel: to('canceled', 'stop waiting', 'note reason', 'send CANCEL'),
    UPDATE: to('calling', 'pass UPDATE'),
    ...ignored('calling', 'offered'),
  },
  proceeding: {
    ...ringing('proceeding'),
    provisional: to('proceeding', 'report progress'),
    reliable: to('proceeding', 'send PRACK', 'report progress'),
    'reliable answer': to('early', 'send PRACK', 'learn early dialog', 'report progress'),
    '2xx': to('up', 'send ACK', 'begin session', 'report answered'),
    failure: to('judging', 'judge failure'),
    cancel: to('canceled', 'note reason', 'send CANCEL'),
    UPDATE: to('proceeding', 'pass UPDATE'),
    ...ignored('proceeding', 'repeated', 'offered'),
  },
  early: {
    ...ringing('early'),
    provisional: to('early', 'report progress'),
    reliable: to('early', 'send PRACK', 'report progress'),
    'reliable answer': to('early', 'send PRACK', 'report progress'),
    offered: to('changed'),
    '2xx': to('up', 'send ACK', 'begin session', 'report answered'),
    failure: to('judging', 'judge failure'),
    cancel: to('canceled', 'note reason', 'send CANCEL'),
    UPDATE: to('early', 'pass UPDATE of fork'),
    ...ignored('early', 'repeated'),
  },
  changed: {
    ...ringing('changed'),
    provisional: to('changed', 'report progress'),
    reliable: to('changed', 'send PRACK', 'report progress'),
    'reliable answer': to('changed', 'send PRACK', 'report progress'),
    '2xx': to('up', 'send ACK', 'begin session', 'report answered again'),
    failure: to('judging', 'judge failure'),
    cancel: to('canceled', 'note reason', 'send CANCEL'),
    UPDATE: to('changed', 'pass UPDATE of fork'),
    ...ignored('changed', 'repeated', 'offered'),
  },
  judging: {
    again: to('sending', 'send INVITE'),
    refused: to('over', 'release', 'report refusal'),
  },
  withdrawn: {
    ...unanswered('withdrawn'),
    accepted: to('canceled', 'learn INVITE', 'send CANCEL'),
    'not sent': to('over', 'release'),
    UPDATE: to('withdrawn', 'answer 481'),
    ...ignored('withdrawn', 'cancel'),
  },
  canceled: {
    ...unanswered('canceled'),
    reliable: to('canceled', 'send PRACK'),
    'reliable answer': to('canceled', 'send PRACK'),
    // RFC 3261 section 9.1: the answer crossed our CANCEL.
    '2xx': to('leaving', 'send ACK', 'send BYE'),
    failure: to('over', 'release'),
    UPDATE: to('canceled', 'answer 481'),
    ...ignored('canceled', 'cancel', 'provisional', 'repeated'),
  },
  up: {
    ...established,
    ACK: to('up', 'pass ACK'),
    refer: to('up', 'send REFER'),
    ask: to('up', 'send OPTIONS'),
    renegotiate: to('up', 'renegotiate'),
    NOTIFY: to('up', 'pass request'),
    UPDATE: to('up', 'pass request'),
    request: to('up', 'pass request'),
    'session lost': to('up', 'report loss'),
    ...ignored('up', 'cancel', 'offered'),
  },
  leaving: {
    ...endOfDialog.leaving,
    UPDATE: to('leaving', 'answer 481'),
    ...ignored('leaving', 'cancel', 'session lost'),
  },
  over: {
    ...endOfDialog.over,
    UPDATE: to('over', 'answer 481'),
    ...ignored('over', 'start', 'cancel', 'accepted', 'not sent', 'session lost'),
    ...ignored('over', 'provisional', 'reliable', 'reliable answer', 'repeated', '2xx', 'failure'),
  },
} satisfies Moves<OutboundLegState, OutboundLegInput, OutboundLegAction>);
