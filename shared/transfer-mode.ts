/**
 * What a REFER from the peer may make the edge call (docs/transfers.md): nothing; SIP users at the configuration's own
 * hosts, which costs nothing; or also phone numbers and everything over an outbound configuration.
 */
export const transferModes = ['disable_all', 'sip_only', 'enable_all'] as const;
export type TransferMode = (typeof transferModes)[number];
export const defaultTransferMode: TransferMode = 'sip_only';
