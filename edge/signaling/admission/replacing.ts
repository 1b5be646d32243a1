/**
 * Who may replace a dialog by a REFER in another one (RFC 5589 section 7). The rules are those of an INVITE with Replaces
 * (checks.ts), but a request in a dialog is not challenged: what admitted the peer to its own dialog counts. Pure.
 */
import type { DialogAccount } from '../session/dialogs.ts';
import type { Routing } from './incoming-invite.ts';

/** Whether both belong to one organization is for the calls to say. */
export function mayReplace(routing: Routing | null, replaced: DialogAccount, by: DialogAccount): boolean {
  const { peerAddress, trunkId } = by;
  // The peer has both dialogs, and may end either of them anyway.
  if (peerAddress !== null && peerAddress === replaced.peerAddress) return true;
  const number = routing?.numbers.find(replaced.number);
  if (!routing || !number) return false;
  // Its credentials were right, whatever address it had.
  if (trunkId !== null && number.inbound.some(({ id }) => id === trunkId)) return true;
  return peerAddress !== null && routing.sources.admit(number, peerAddress).allowed;
}
