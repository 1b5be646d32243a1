/** The order of reliable provisional responses (RFC 3262 section 4). */
import type { Environment } from '../srf/environment.ts';
import { type HeaderFields, headerOf, tagOf, tokensOf } from '../srf/headers.ts';

/** Forks per outgoing call whose reliable responses are accepted: a peer can use any number of To tags. */
const maxForks = 64;

export class ReliableResponses {
  /** RSeq of the last accepted response, by To tag: each fork is counted separately. */
  readonly #last = new Map<string, number>();

  /**
   * @returns whether to process a provisional response. A reliable one is processed when it is the first or next
   * in its dialog. One that was processed before is a retransmission, and one that is out of order will be
   * retransmitted.
   */
  take(headers: HeaderFields): boolean {
    const rseq = headerOf(headers, 'rseq');
    if (rseq === undefined || !tokensOf(headerOf(headers, 'require')).includes('100rel')) return true;
    if (!/^\d{1,10}$/.test(rseq)) return false;
    const number = Number(rseq);
    const tag = tagOf(headerOf(headers, 'to') ?? '');
    const last = this.#last.get(tag);
    if (last === undefined ? this.#last.size >= maxForks : number !== last + 1) return false;
    this.#last.set(tag, number);
    return true;
  }
}

/**
 * For the PRACK of a reliable response. All forks of an INVITE have one id in the engine: its To says whose PRACK it is. A
 * drachtio-server gets none: it knows the dialog itself.
 * @param headers of the response
 */
export function inFork(
  headers: HeaderFields,
  { engineIsEmbedded }: Pick<Environment, 'engineIsEmbedded'>,
): { readonly headers?: Record<string, string> } {
  const to = headerOf(headers, 'to');
  return to === undefined || !engineIsEmbedded() ? {} : { headers: { To: to } };
}
