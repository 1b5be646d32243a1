/** Why control closes an edge's connection. */
export const closeCode = {
  // RFC 6455 section 7.4.
  goingAway: 1001,
  protocolError: 1002,
  policyViolation: 1008,
  internalError: 1011,
  /** Registered with IANA: the peer may connect again at once. */
  serviceRestart: 1012,
  /** Of our own: the edge has a newer connection. */
  replaced: 4001,
} as const;
