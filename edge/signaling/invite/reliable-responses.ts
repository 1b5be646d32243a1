/** The order of reliable provisional responses (RFC 3262 section 4). */
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
    const number = Number(rseq);
    if (!Number.isInteger(number)) return false;
    const tag = tagOf(headerOf(headers, 'to') ?? '');
    const last = this.#last.get(tag);
    if (last === undefined ? this.#last.size >= maxForks : number !== last + 1) return false;
    this.#last.set(tag, number);
    return true;
  }
}
