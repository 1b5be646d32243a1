import { type Moves, machine, to } from '#shared/state-machine.ts';

/**
 * INVITE server transaction: RFC 3261 section 17.2.1 with the Accepted state of RFC 6026.
 *
 *       INVITE received: 100 sent, `answer` timer
 *                |
 *                V
 *         +------------+  INVITE: last provisional again
 *         | Proceeding |  1xx of the user: send (from the first on without `answer` timer)
 *         +------------+
 *           |        |
 *           |        | 300-699 of the user: send, Timer H
 *           |        V
 *           |   +-----------+  INVITE: final response again
 *           |   | Completed |
 *           |   +-----------+
 *           |        | ACK (Confirmed lasts Timer I = 0), Timer H
 *           |        |
 *           | 2xx of the user: send, Timer L
 *           V        |
 *      +----------+  |
 *      | Accepted |  |     INVITE: absorbed. 2xx of the user: send (13.3.1.4 retransmits there)
 *      +----------+  |
 *           |        |     acknowledged, Timer L
 *           V        V
 *         +------------+
 *         | Terminated |
 *         +------------+
 */
export type ServerInviteState = 'Proceeding' | 'Completed' | 'Accepted' | 'Terminated';

/** `user …`: a response from the transaction user. `acknowledged`: the ACK of the 2xx reached the dialog. */
export type ServerInviteInput =
  | 'INVITE'
  | 'ACK'
  | 'user 1xx'
  | 'user 2xx'
  | 'user failure'
  | 'acknowledged'
  | 'timer answer'
  | 'timer H'
  | 'timer L';

export type ServerInviteAction = 'send' | 'send again' | 'unanswered' | 'stop timer' | 'start H' | 'start L';

export const serverInvite = machine('an INVITE server transaction', {
  Proceeding: {
    INVITE: to('Proceeding', 'send again'),
    ACK: to('Proceeding'),
    'user 1xx': to('Proceeding', 'stop timer', 'send'),
    'user 2xx': to('Accepted', 'send', 'start L'),
    'user failure': to('Completed', 'send', 'start H'),
    'timer answer': to('Proceeding', 'unanswered'),
  },
  Completed: {
    INVITE: to('Completed', 'send again'),
    ACK: to('Terminated'),
    'timer H': to('Terminated'),
  },
  Accepted: {
    INVITE: to('Accepted'),
    ACK: to('Accepted'),
    'user 2xx': to('Accepted', 'send'),
    // Timer L waits for retransmitted INVITEs. Over a reliable transport none follows the ACK.
    acknowledged: to('Terminated'),
    'timer L': to('Terminated'),
  },
  Terminated: {},
} satisfies Moves<ServerInviteState, ServerInviteInput, ServerInviteAction>);
