/** Audio codecs by the names that the HTTP contract uses (section 3.5). */
export const codecNames = ['PCMU', 'PCMA', 'G.729', 'Opus', 'G.722'] as const;

export type CodecName = (typeof codecNames)[number];

/** What a number offers and accepts when its configuration says nothing (contract 3.5). */
export const defaultCodecs: readonly CodecName[] = ['PCMU', 'PCMA', 'Opus'];
