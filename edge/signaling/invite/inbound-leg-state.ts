/**
 * The states of an inbound leg, as data; inbound-leg.ts performs the actions.
 *
 *     offered --answer--> answering --200 sent--> answered --ACK--> up --bye--> leaving --BYE answered--> over
 *        |                    |                       |             |              |
 *        | reject, CANCEL     | 200 not sent          |             |              |
 *        |                    |                       | bye: leaving|              |
 *        +--------------------+-----------------------+-------------+--------------+--> over
 *             BYE of peer or engine, dialog forgotten, engine lost: from everywhere
 *
 * `answering`: the 200 is passed to the engine. `answered`: it is on the wire. A CANCEL that arrives from then on has
 * crossed the 200: the engine has answered it, and the call continues (RFC 3261 section 9.2).
 */
import { ignored, type Moves, machine, to } from '#shared/state-machine.ts';
import {
  type DialogAction,
  type DialogInput,
  endOfDialog,
  established,
  notEstablished,
} from './dialog-rows.ts';

export type InboundLegState = 'offered' | 'answering' | 'answered' | 'up' | 'leaving' | 'over';

export type InboundLegInput =
  | DialogInput
  /** Orders of the call. */
  | 'ring'
  | 'answer'
  | 'reject'
  /** Outcome of our responses. */
  | '180 sent'
  | '200 sent'
  | '200 not sent'
  | 'CANCEL';

export type InboundLegAction =
  | DialogAction
  | 'send 180'
  | 'send 200'
  | 'send rejection'
  /** Answers the INVITE whose early dialog has ended. */
  | 'send 487'
  /** Puts the dialog into the list, so that its requests find the leg. */
  | 'learn dialog'
  | 'begin session'
  | 'report answered'
  | 'report failed answer'
  | 'report ACK'
  /** Passes the ACK of a re-INVITE to the session. */
  | 'pass ACK'
  | 'report CANCEL'
  | 'report canceled'
  /** Passes a request that needs no answered call; a REFER is rejected. */
  | 'pass early request';

export const inboundLeg = machine('an inbound leg', {
  offered: {
    ring: to('offered', 'send 180'),
    '180 sent': to('offered', 'learn dialog'),
    answer: to('answering', 'send 200'),
    reject: to('over', 'release', 'send rejection'),
    CANCEL: to('over', 'release', 'report CANCEL'),
    // RFC 3261 section 15: a caller may end its early dialog with BYE; the INVITE still needs its final answer.
    BYE: to('over', 'release', 'report canceled', 'answer 200', 'send 487'),
    'engine BYE': to('over', 'release', 'report engine BYE'),
    forgotten: to('over', 'release'),
    abandoned: to('over', 'release'),
    NOTIFY: to('offered', 'pass early request'),
    request: to('offered', 'pass early request'),
    ...notEstablished('offered'),
    ...ignored('offered', 'ACK'),
  },
  answering: {
    '180 sent': to('answering', 'learn dialog'),
    '200 sent': to('answered', 'begin session', 'report answered'),
    '200 not sent': to('over', 'release', 'report failed answer'),
    BYE: to('over', 'release', 'report BYE', 'answer 200'),
    'engine BYE': to('over', 'release', 'report engine BYE'),
    forgotten: to('over', 'release'),
    abandoned: to('over', 'release'),
    NOTIFY: to('answering', 'pass early request'),
    request: to('answering', 'pass early request'),
    ...notEstablished('answering'),
    ...ignored('answering', 'ring', 'answer', 'reject', 'CANCEL', 'ACK'),
  },
  answered: {
    ...established,
    '180 sent': to('answered', 'learn dialog'),
    ACK: to('up', 'report ACK'),
    refer: to('answered', 'send REFER'),
    ask: to('answered', 'send OPTIONS'),
    renegotiate: to('answered', 'renegotiate'),
    NOTIFY: to('answered', 'pass request'),
    request: to('answered', 'pass request'),
    ...ignored('answered', 'ring', 'answer', 'reject', 'CANCEL'),
  },
  up: {
    ...established,
    '180 sent': to('up', 'learn dialog'),
    ACK: to('up', 'pass ACK'),
    refer: to('up', 'send REFER'),
    ask: to('up', 'send OPTIONS'),
    renegotiate: to('up', 'renegotiate'),
    NOTIFY: to('up', 'pass request'),
    request: to('up', 'pass request'),
    ...ignored('up', 'ring', 'answer', 'reject', 'CANCEL'),
  },
  leaving: {
    ...endOfDialog.leaving,
    '180 sent': to('leaving', 'learn dialog'),
    ...ignored('leaving', 'ring', 'answer', 'reject', 'CANCEL'),
  },
  over: {
    ...endOfDialog.over,
    ...ignored('over', 'ring', 'answer', 'reject', '180 sent', '200 sent', '200 not sent', 'CANCEL'),
  },
} satisfies Moves<InboundLegState, InboundLegInput, InboundLegAction>);
