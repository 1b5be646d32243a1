/** What the peer of a dialog has stated about itself: the methods that it allows, and its target. */
import { type HeaderFields, headerOf, tokensOf } from '../srf/headers.ts';
import { uriOf } from '../srf/numbers.ts';

export class Peer {
  #allow: readonly string[] | null = null;
  #target = '';

  /**
   * Processes a message that may change both: the first INVITE or its 2xx, and target refreshes (RFC 3261 section
   * 12.2, RFC 5057 section 5). What it omits stays unchanged.
   */
  learn(theirs: HeaderFields): void {
    const allow = headerOf(theirs, 'allow');
    if (allow !== undefined) this.#allow = tokensOf(allow);
    const contact = headerOf(theirs, 'contact');
    if (contact !== undefined) this.#target = uriOf(contact);
  }

  /** The last Contact URI, empty when there was none. */
  get target(): string {
    return this.#target;
  }

  /** Whether Allow lists `method`; null when there was no Allow. */
  takes(method: string): boolean | null {
    return this.#allow === null ? null : this.#allow.includes(method.toLowerCase());
  }
}
