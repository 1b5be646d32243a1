/** Words that callers are likely to say, for the transcription (contract 9.1). */
import { Line, List } from '#shared/api/common.ts';
import { mostKeyTerms } from '#shared/key-terms.ts';

export const KeyTerms = List(Line(1, 64), 0, mostKeyTerms);
