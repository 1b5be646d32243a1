/**
 * What a REFER of the peer may make the edge call (docs/transfers.md): nothing; SIP users at the configuration's own
 * hosts, which cost nothing; telephone numbers and whatever goes over an outbound configuration as well.
 */
export const transferModes = ['disable_all', 'sip_only', 'enable_all'] as const;
export type TransferMode = (typeof transferModes)[number];
export const defaultTransferMode: TransferMode = 'sip_only';
