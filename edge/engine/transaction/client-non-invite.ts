import { type Moves, machine, to } from '#shared/state-machine.ts';

/**
 * Non-INVITE client transaction (RFC 3261 section 17.1.2).
 *
 *     request sent, Timer F
 *            |
 *            V   1xx: deliver
 *       +--------+ ---------> +------------+
 *       | Trying |            | Proceeding | 1xx: deliver
 *       +--------+            +------------+
 *            |                      |
 *            | 200-699: deliver (Completed lasts Timer K = 0)
 *            | Timer F, transport error: tell the user
 *            V                      |
 *       +------------+ <------------+
 *       | Terminated |
 *       +------------+
 */
export type ClientNonInviteState = 'Trying' | 'Proceeding' | 'Terminated';

export type ClientNonInviteInput = '1xx' | 'final' | 'timer F' | 'transport error';

export type ClientNonInviteAction = 'deliver' | 'timeout' | 'unreachable';

export const clientNonInvite = machine('a non-INVITE client transaction', {
  Trying: {
    '1xx': to('Proceeding', 'deliver'),
    final: to('Terminated', 'deliver'),
    'timer F': to('Terminated', 'timeout'),
    'transport error': to('Terminated', 'unreachable'),
  },
  Proceeding: {
    '1xx': to('Proceeding', 'deliver'),
    final: to('Terminated', 'deliver'),
    'timer F': to('Terminated', 'timeout'),
    'transport error': to('Terminated', 'unreachable'),
  },
  Terminated: {},
} satisfies Moves<ClientNonInviteState, ClientNonInviteInput, ClientNonInviteAction>);
