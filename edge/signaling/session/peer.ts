/** What the peer of a dialog has told of itself: which methods it takes, and where it is. */
import { type HeaderFields, headerOf, tokensOf } from '../srf/headers.ts';
import { uriOf } from '../srf/numbers.ts';

export class Peer {
  #allow: readonly string[] | null = null;
  #target = '';

  /**
   * Takes a message that may change both: the first INVITE or its 2xx, and those that refresh the target
   * (RFC 3261 section 12.2, RFC 5057 section 5). What it does not say stays as it was.
   */
  learn(theirs: HeaderFields): void {
    const allow = headerOf(theirs, 'allow');
    if (allow !== undefined) this.#allow = tokensOf(allow);
    const contact = headerOf(theirs, 'contact');
    if (contact !== undefined) this.#target = uriOf(contact);
  }

  /** The last Contact URI, empty when none came. */
  get target(): string {
    return this.#target;
  }

  /** Whether Allow lists `method`; null when no Allow came. */
  takes(method: string): boolean | null {
    return this.#allow === null ? null : this.#allow.includes(method.toLowerCase());
  }
}
