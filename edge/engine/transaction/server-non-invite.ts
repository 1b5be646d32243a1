import { type Moves, machine, to } from '#shared/state-machine.ts';

/**
 * Non-INVITE server transaction (RFC 3261 section 17.2.2).
 *
 *     request received, `reply` timer
 *            |
 *            V   1xx of the user: send
 *       +--------+ ---------> +------------+
 *       | Trying |            | Proceeding | request, 1xx of the user: send
 *       +--------+            +------------+
 *            |                      |
 *            | 200-699 of the user: send (Completed lasts Timer J = 0)
 *            | `reply` timer: forgotten without a response, its client has timed out (RFC 4320 section 4.2)
 *            V                      |
 *       +------------+ <------------+
 *       | Terminated |
 *       +------------+
 */
export type ServerNonInviteState = 'Trying' | 'Proceeding' | 'Terminated';

export type ServerNonInviteInput = 'request' | 'user 1xx' | 'user final' | 'timer reply';

export type ServerNonInviteAction = 'send' | 'send again';

export const serverNonInvite = machine('a non-INVITE server transaction', {
  Trying: {
    request: to('Trying'),
    'user 1xx': to('Proceeding', 'send'),
    'user final': to('Terminated', 'send'),
    'timer reply': to('Terminated'),
  },
  Proceeding: {
    request: to('Proceeding', 'send again'),
    'user 1xx': to('Proceeding', 'send'),
    'user final': to('Terminated', 'send'),
    'timer reply': to('Terminated'),
  },
  Terminated: {},
} satisfies Moves<ServerNonInviteState, ServerNonInviteInput, ServerNonInviteAction>);
