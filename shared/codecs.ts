/** Audio codecs under their names in the HTTP contract (section 3.5). */
export const codecNames = ['PCMU', 'PCMA', 'G.729', 'Opus', 'G.722'] as const;

export type CodecName = (typeof codecNames)[number];

/** Default offer and accepted codecs of a number without configured codecs (contract 3.5). */
export const defaultCodecs: readonly CodecName[] = ['PCMU', 'PCMA', 'Opus'];
