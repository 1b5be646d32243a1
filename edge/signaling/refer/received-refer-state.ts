/**
 * The states of a REFER from the peer and of the subscription that it creates (RFC 3515 section 2.4, RFC 6665), as
 * data; received-refer.ts performs the actions. NOTIFYs are sent one at a time: each one after the response to the
 * previous one, the first one after the 202.
 *
 *             accept, send 202       next: send NOTIFY       next: send NOTIFY
 *     asked ------------------> accepting ------------> notifying -----------+
 *       |                          |                     |  ^  ^             |
 *       | accept silently          |            no more  |  |  +-------------+
 *       v                          |                     v  | progress: send NOTIFY
 *     silent                       |                    open
 *       |                          | outcome, timeout     |
 *       |                          +----------+-----------+
 *       |                                     v
 *       | outcome, timeout                 ending ---+ next: send NOTIFY
 *       |                                   |   ^    |
 *       |                                   |   +----+
 *       v                                   v no more
 *      over <-------------------------------+     refuse, gone, dialog over: from everywhere
 *
 * `silent`: the peer wants no subscription (RFC 4488). `next` and `no more`: the 202 is sent, or a NOTIFY answered,
 * and a NOTIFY waits to be sent, or none does.
 */
import { ignored, type Moves, machine, to } from '#shared/state-machine.ts';

export type ReceivedReferState = 'asked' | 'silent' | 'accepting' | 'open' | 'notifying' | 'ending' | 'over';

export type ReceivedReferInput =
  /** Orders of the call. */
  | 'accept'
  | 'accept silently'
  | 'refuse'
  | 'progress'
  | 'outcome'
  /** Our BYE follows. */
  | 'flush'
  /** No outcome in time. */
  | 'timeout'
  | 'next'
  | 'no more'
  /** The 202 or a NOTIFY was not sent, or the peer does not know the subscription. */
  | 'gone'
  | 'dialog over';

export type ReceivedReferAction =
  | 'send 202'
  | 'send rejection'
  /** Puts the status line into the queue of NOTIFYs. */
  | 'queue'
  /** Sends the first NOTIFY of the queue. */
  | 'send'
  | 'send all'
  | 'count outcome'
  | 'report expiry'
  | 'release';

export const receivedRefer = machine('a REFER from the peer', {
  asked: {
    accept: to('accepting', 'send 202', 'queue'),
    'accept silently': to('silent', 'send 202'),
    refuse: to('over', 'send rejection', 'release'),
    timeout: to('over', 'send rejection', 'release'),
    'dialog over': to('over', 'send rejection', 'release'),
    ...ignored('asked', 'progress', 'outcome', 'flush'),
  },
  silent: {
    outcome: to('over', 'count outcome', 'release'),
    timeout: to('over', 'count outcome', 'release', 'report expiry'),
    gone: to('over', 'release'),
    'dialog over': to('over', 'release'),
    ...ignored('silent', 'accept', 'accept silently', 'refuse', 'progress', 'flush', 'no more'),
  },
  accepting: {
    progress: to('accepting', 'queue'),
    next: to('notifying', 'send'),
    'no more': to('open'),
    outcome: to('ending', 'count outcome', 'queue'),
    timeout: to('ending', 'count outcome', 'queue', 'report expiry'),
    flush: to('accepting', 'send all'),
    gone: to('over', 'release'),
    'dialog over': to('over', 'release'),
    ...ignored('accepting', 'accept', 'accept silently', 'refuse'),
  },
  open: {
    progress: to('notifying', 'queue', 'send'),
    outcome: to('ending', 'count outcome', 'queue', 'send'),
    timeout: to('ending', 'count outcome', 'queue', 'send', 'report expiry'),
    gone: to('over', 'release'),
    'dialog over': to('over', 'release'),
    // `no more`: of several NOTIFYs that `flush` has sent, a later one is answered.
    ...ignored('open', 'accept', 'accept silently', 'refuse', 'flush', 'no more'),
  },
  notifying: {
    progress: to('notifying', 'queue'),
    next: to('notifying', 'send'),
    'no more': to('open'),
    outcome: to('ending', 'count outcome', 'queue'),
    timeout: to('ending', 'count outcome', 'queue', 'report expiry'),
    flush: to('notifying', 'send all'),
    gone: to('over', 'release'),
    'dialog over': to('over', 'release'),
    ...ignored('notifying', 'accept', 'accept silently', 'refuse'),
  },
  ending: {
    next: to('ending', 'send'),
    'no more': to('over', 'release'),
    flush: to('ending', 'send all'),
    gone: to('over', 'release'),
    'dialog over': to('over', 'release'),
    ...ignored('ending', 'accept', 'accept silently', 'refuse', 'progress', 'outcome'),
  },
  over: {
    ...ignored('over', 'accept', 'accept silently', 'refuse', 'progress', 'outcome', 'flush'),
    ...ignored('over', 'next', 'no more', 'gone', 'dialog over'),
  },
} satisfies Moves<ReceivedReferState, ReceivedReferInput, ReceivedReferAction>);
