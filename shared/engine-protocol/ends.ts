/** Why the embedded engine itself ended a dialog, or an INVITE that nobody answered. */

/** By cause, the text of the Reason header (RFC 3326) in the engine's BYE or CANCEL. */
export const endTexts = {
  no_ack: 'ACK timeout',
  ack_impossible: 'ACK impossible: connection lost',
  unacknowledged: 'no ACK from the application',
  cancel_race: 'ACK-BYE due to cancel race condition',
  no_contact: 'no Contact in the 200',
  unreachable: 'peer unreachable',
  no_prack: 'PRACK timeout',
  unanswered: 'no answer from the application',
  connection_lost: 'connection lost',
  unowned: 'no call owns the dialog',
  application_gone: 'application disconnected',
} as const;

export type EndCause = keyof typeof endTexts;

/** The value of `privateHeaders.end`; null when it names no cause. */
export function readEndCause(value: string | undefined): EndCause | null {
  return value !== undefined && Object.hasOwn(endTexts, value) ? (value as EndCause) : null;
}
