/** The methods that Trunkline supports, in requests of both directions: the Allow of edge and engine (RFC 3261 section 20.5). */
export const allowedMethods = [
  'INVITE',
  'ACK',
  'BYE',
  'CANCEL',
  'OPTIONS',
  'REFER',
  'NOTIFY',
  'PRACK',
  'UPDATE',
  'INFO',
] as const;
export const allow = allowedMethods.join(', ');
