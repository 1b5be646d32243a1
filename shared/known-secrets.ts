/** Secrets of calls that are up, so that nothing that is kept of a call holds one. */

/** Calls at most; the one that learnt nothing for longest is forgotten. */
const maxCalls = 10_000;
/** Secrets of one call: two for each media path, and a re-INVITE makes a new one. */
const maxSecrets = 64;

export class KnownSecrets {
  readonly #byCall = new Map<string, Set<string>>();

  note(callId: string, secret: string): void {
    if (secret === '') return;
    const known = this.#byCall.get(callId) ?? new Set<string>();
    known.add(secret);
    for (const first of known) {
      if (known.size <= maxSecrets) break;
      known.delete(first);
    }
    this.#byCall.delete(callId);
    this.#byCall.set(callId, known);
    for (const oldest of this.#byCall.keys()) {
      if (this.#byCall.size <= maxCalls) break;
      this.#byCall.delete(oldest);
    }
  }

  of(callId: string): readonly string[] {
    return [...(this.#byCall.get(callId) ?? [])];
  }

  /** The call is over, and what is kept of it is written. */
  forget(callId: string): void {
    this.#byCall.delete(callId);
  }
}
