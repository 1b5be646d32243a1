import { type Machine, to } from './machine.ts';

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

export const clientNonInvite: Machine<ClientNonInviteState, ClientNonInviteInput, ClientNonInviteAction> = {
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
};
