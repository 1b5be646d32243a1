/**
 * Which member of a fleet does the work on a subject: rendezvous hashing. Each member's score is a hash of member and
 * subject, and the highest wins. Everybody with the same members gets the same answer; when a member leaves, only its
 * subjects move, and when one joins, only those that it wins. Pure.
 *
 * Edges and control of different versions compute this together: the function must never change.
 */
import { plainHost } from '#shared/networks.ts';

/** An endpoint that is probed: trunks with the same host and port share it. */
export function probeWork({ host, port }: { readonly host: string; readonly port: number }): string {
  return `probe ${plainHost(host)} ${port}`;
}

/**
 * The registrations of an organization at one registrar: records that share a binding stay together, and so does what
 * the registrar has rejected.
 */
export function registrationWork(orgId: string, host: string): string {
  return `registration ${orgId} ${plainHost(host)}`;
}

export class Assignment {
  readonly #members: readonly { readonly id: string; readonly hash: number }[];

  /** @param members ids, in any order */
  constructor(members: readonly string[]) {
    // In the order of their ids, so that the first one of equal scores is the same everywhere.
    this.#members = [...new Set(members)].sort().map((id) => ({ id, hash: hashOf(id) }));
  }

  /** The member that works on a subject; null without members. */
  of(subject: string): string | null {
    const hash = hashOf(subject);
    let best: string | null = null;
    let most = -1;
    for (const member of this.#members) {
      const score = mixed(member.hash ^ mixed(hash));
      if (score > most) {
        most = score;
        best = member.id;
      }
    }
    return best;
  }
}

/** FNV-1a over the UTF-16 units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mixed(hash);
}

/** The finalizer of MurmurHash3: every bit of the input changes half of the output's. @returns 0 to 2^32 - 1 */
function mixed(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
