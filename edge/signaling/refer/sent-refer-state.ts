/**
 * The states of a REFER of ours and of the progress that the peer reports (RFC 3515 section 2.4, RFC 6665), as data;
 * sent-refer.ts performs the actions.
 *
 *     sent --2xx, progress--> accepted --outcome--> settled --end of subscription--> over
 *       |                        |
 *       +------------------------+-- rejected, no outcome in time, end of subscription or dialog: over, reported as
 *                                    failure; with an outcome as success
 *
 * A NOTIFY may arrive before the response, and implies acceptance (RFC 6665 section 4.1.2.4). `settled`: the outcome
 * is known; it is kept until its subscription ends, so that late NOTIFYs are answered 200.
 */
import { ignored, type Moves, machine, to } from '#shared/state-machine.ts';

export type SentReferState = 'sent' | 'accepted' | 'settled' | 'over';

export type SentReferInput =
  | '2xx'
  /** A 2xx whose peer reports no progress (RFC 4488). */
  | '2xx without subscription'
  /** A final response from 300 on, or none can come. */
  | 'rejected'
  /** A NOTIFY without final status line; `last`: it also ends the subscription. */
  | 'progress'
  | 'last progress'
  /** A NOTIFY with a final status line; `last`: it also ends the subscription. */
  | 'outcome'
  | 'last outcome'
  | 'timeout'
  | 'dialog over';

export type SentReferAction =
  | 'report accepted'
  | 'report progress'
  | 'report outcome'
  | 'report failure'
  /** Waits for the next NOTIFY. */
  | 'wait'
  | 'release';

export const sentRefer = machine('a REFER of ours', {
  sent: {
    '2xx': to('accepted', 'report accepted', 'wait'),
    '2xx without subscription': to('over', 'report accepted', 'report failure', 'release'),
    rejected: to('over', 'report failure', 'release'),
    progress: to('accepted', 'report accepted', 'report progress', 'wait'),
    'last progress': to('over', 'report accepted', 'report progress', 'report failure', 'release'),
    outcome: to('settled', 'report accepted', 'report outcome'),
    'last outcome': to('over', 'report accepted', 'report outcome', 'release'),
    'dialog over': to('over', 'report failure', 'release'),
  },
  accepted: {
    '2xx without subscription': to('over', 'report failure', 'release'),
    rejected: to('over', 'report failure', 'release'),
    progress: to('accepted', 'report progress', 'wait'),
    'last progress': to('over', 'report progress', 'report failure', 'release'),
    outcome: to('settled', 'report outcome'),
    'last outcome': to('over', 'report outcome', 'release'),
    timeout: to('over', 'report failure', 'release'),
    'dialog over': to('over', 'report failure', 'release'),
    ...ignored('accepted', '2xx'),
  },
  settled: {
    '2xx without subscription': to('over', 'release'),
    rejected: to('over', 'release'),
    'last progress': to('over', 'release'),
    'last outcome': to('over', 'release'),
    timeout: to('over', 'release'),
    'dialog over': to('over', 'release'),
    ...ignored('settled', '2xx', 'progress', 'outcome'),
  },
  over: {
    ...ignored('over', '2xx', '2xx without subscription', 'rejected', 'dialog over'),
    ...ignored('over', 'progress', 'last progress', 'outcome', 'last outcome'),
  },
} satisfies Moves<SentReferState, SentReferInput, SentReferAction>);
