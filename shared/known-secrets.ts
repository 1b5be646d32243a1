/** Secrets of live calls, so that they can be redacted from everything stored about a call. */

/** Maximum calls; the one without new secrets for the longest time is dropped. */
const maxCalls = 10_000;
/** Maximum secrets of one call: two per media path, and a re-INVITE adds one. */
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

  /** The call is over, and everything about it is stored. */
  forget(callId: string): void {
    this.#byCall.delete(callId);
  }
}
