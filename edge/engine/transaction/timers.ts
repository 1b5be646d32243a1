/**
 * Timer values of RFC 3261 section 17 and RFC 6026 for a reliable transport, in milliseconds.
 *
 * The engine has no unreliable transport. Timers A, E and G (retransmission by the transaction) therefore do not
 * exist, and D, I, J and K are zero: the states that they would prolong are left at once, and the tables go
 * directly to Terminated where the RFC's diagrams pass through Completed or Confirmed.
 */
export const T1 = 500;
export const T2 = 4_000;

export const timers = {
  /** INVITE without any response (17.1.1.2). */
  B: 64 * T1,
  /** INVITE with provisional responses only (16.6, item 11: more than three minutes). */
  C: 185_000,
  /** Non-INVITE without a final response (17.1.2.2). */
  F: 64 * T1,
  /** Failure sent for an INVITE, no ACK (17.2.1). */
  H: 64 * T1,
  /** 2xx sent: retransmitted INVITEs are absorbed (RFC 6026 section 7.1). */
  L: 64 * T1,
  /** 2xx received: retransmitted 2xx are absorbed or acknowledged again (RFC 6026 section 7.2). */
  M: 64 * T1,
  /** CANCEL sent, no final response to the INVITE (9.1). */
  cancel: 64 * T1,
  /** INVITE received, no response at all from the application. Not in the RFC: no caller may be left in silence. */
  answer: 64_000,
  /** Any other request received, no response from the application: its sender has given up by Timer F. */
  reply: 64 * T1,
} as const;

export type TimerName = keyof typeof timers;
