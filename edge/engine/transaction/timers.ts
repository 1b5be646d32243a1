/**
 * Timer values of RFC 3261 section 17 and RFC 6026, in milliseconds, as they are on a reliable transport.
 *
 * The engine has no unreliable transport. So Timers A, E and G (retransmission by the transaction) do not
 * exist here, and D, I, J and K are zero: the states that they would prolong are left at once, and the tables
 * go to Terminated directly where the RFC's diagrams pass through Completed or Confirmed.
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
  /** CANCEL sent, the INVITE's final response stays away (9.1). */
  cancel: 64 * T1,
  /** INVITE received, the application says nothing at all. Not of the RFC: nobody may leave a caller in silence. */
  answer: 64_000,
  /** Any other request received, the application says nothing: its sender has given up by Timer F. */
  reply: 64 * T1,
} as const;

export type TimerName = keyof typeof timers;
