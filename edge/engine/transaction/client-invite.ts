import { type Moves, machine, to } from '#shared/state-machine.ts';

/**
 * INVITE client transaction: RFC 3261 section 17.1.1 with the Accepted state of RFC 6026, and the client's
 * side of CANCEL (section 9.1).
 *
 *        INVITE sent, Timer B
 *                |
 *                V        cancel           +--------------+
 *          +-----------+ ----------------> | CancelWanted |  9.1: no CANCEL before a provisional
 *          |  Calling  |                   +--------------+
 *          +-----------+                          | 1xx: send CANCEL
 *                | 1xx: Timer C                   V
 *                V        cancel, Timer C  +--------------+
 *          +------------+ ---------------> |  Cancelled   |
 *          | Proceeding |   send CANCEL    +--------------+
 *          +------------+                         |
 *                |                                |
 *                |  2xx in any of the four: deliver, Timer M
 *                +--------------------------------+----------> +----------+
 *                |                                             | Accepted | 2xx: repeated
 *                |  300-699 in any of the four:                +----------+
 *                |  ACK, deliver (Completed lasts Timer D = 0)      | Timer M
 *                |  Timer B, transport error: tell the user         |
 *                V                                                  V
 *          +------------+ <-----------------------------------------+
 *          | Terminated |
 *          +------------+
 */
export type ClientInviteState =
  | 'Calling'
  | 'CancelWanted'
  | 'Proceeding'
  | 'Cancelled'
  | 'Accepted'
  | 'Terminated';

export type ClientInviteInput =
  | '1xx'
  | '2xx'
  | 'failure'
  | 'cancel'
  | 'transport error'
  | 'timer B'
  | 'timer C'
  | 'timer cancel'
  | 'timer M';

/** `repeated`: a 2xx after the first one, either a retransmission or the answer of another fork. */
export type ClientInviteAction =
  | 'deliver'
  | 'repeated'
  | 'send ACK'
  | 'send CANCEL'
  | 'timeout'
  | 'unreachable'
  | 'start C'
  | 'start M'
  | 'start cancel';

export const clientInvite = machine('an INVITE client transaction', {
  Calling: {
    '1xx': to('Proceeding', 'start C', 'deliver'),
    '2xx': to('Accepted', 'start M', 'deliver'),
    failure: to('Terminated', 'send ACK', 'deliver'),
    cancel: to('CancelWanted'),
    'timer B': to('Terminated', 'timeout'),
    'transport error': to('Terminated', 'unreachable'),
  },
  CancelWanted: {
    '1xx': to('Cancelled', 'send CANCEL', 'start cancel', 'deliver'),
    '2xx': to('Accepted', 'start M', 'deliver'),
    failure: to('Terminated', 'send ACK', 'deliver'),
    cancel: to('CancelWanted'),
    'timer B': to('Terminated', 'timeout'),
    'transport error': to('Terminated', 'unreachable'),
  },
  Proceeding: {
    // 16.7, step 2: every provisional restarts Timer C.
    '1xx': to('Proceeding', 'start C', 'deliver'),
    '2xx': to('Accepted', 'start M', 'deliver'),
    failure: to('Terminated', 'send ACK', 'deliver'),
    cancel: to('Cancelled', 'send CANCEL', 'start cancel'),
    'timer C': to('Cancelled', 'send CANCEL', 'start cancel'),
    'transport error': to('Terminated', 'unreachable'),
  },
  Cancelled: {
    '1xx': to('Cancelled', 'deliver'),
    '2xx': to('Accepted', 'start M', 'deliver'),
    failure: to('Terminated', 'send ACK', 'deliver'),
    cancel: to('Cancelled'),
    // 9.1: without a final response for 64*T1 the client considers the INVITE canceled.
    'timer cancel': to('Terminated', 'timeout'),
    'transport error': to('Terminated', 'unreachable'),
  },
  Accepted: {
    '1xx': to('Accepted'),
    '2xx': to('Accepted', 'repeated'),
    failure: to('Accepted'),
    cancel: to('Accepted'),
    'timer M': to('Terminated'),
    // RFC 6026 section 8.4: the user has its answer; retransmitted 2xx may still arrive over another connection.
    'transport error': to('Accepted'),
  },
  Terminated: {},
} satisfies Moves<ClientInviteState, ClientInviteInput, ClientInviteAction>);
