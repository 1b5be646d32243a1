/** The order of reliable provisional responses (RFC 3262 section 4). */
import { type HeaderFields, headerOf, tagOf, tokensOf } from '../srf/headers.ts';

/** Forks of one call of ours whose reliable responses are taken: a peer can name any number of To tags. */
const maxForks = 64;

export class ReliableResponses {
  /** RSeq of the last one taken, by To tag: every fork counts for itself. */
  readonly #last = new Map<string, number>();

  /**
   * @returns whether a provisional response is to be taken; a reliable one is when it is the first or next of its
   *   dialog. One that was taken before is a repetition, and one that came too early will be repeated.
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
