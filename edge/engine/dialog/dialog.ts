import { type Moves, machine, step, to } from '#shared/state-machine.ts';
import { parseAddress, splitList, tagOf } from '../message/address.ts';
import type { Headers, SipRequest, SipResponse } from '../message/message.ts';
import { isSipUri, parseUri } from '../message/uri.ts';

/**
 * The state of a dialog between two user agents (RFC 3261 section 12).
 *
 *     1xx with To tag      +-------+   2xx    +-----------+
 *    --------------------> | Early | -------> | Confirmed |
 *                          +-------+          +-----------+
 *                   300-699    |   BYE, ACK timeout |      see dialog-ends.ts
 *                              V                    V
 *                          +----------------------------+
 *                          |         Terminated         |
 *                          +----------------------------+
 */
export type DialogState = 'Early' | 'Confirmed' | 'Terminated';

export type DialogInput = 'confirm' | 'terminate';

const states = machine('a dialog', {
  Early: { confirm: to('Confirmed'), terminate: to('Terminated') },
  // A 2xx of a later INVITE or of a refreshed subscription confirms again.
  Confirmed: { confirm: to('Confirmed'), terminate: to('Terminated') },
  Terminated: { terminate: to('Terminated') },
} satisfies Moves<DialogState, DialogInput, never>);

/** Why a request in a dialog is rejected, and with which status. */
export interface DialogRefusal {
  readonly status: 500;
  readonly reason: string;
}

/** Whose request created the dialog: ours (uac) or the peer's (uas). */
export type DialogRole = 'uac' | 'uas';

/** The peer's end of a dialog. */
export interface DialogPeer {
  /** Empty when the peer follows RFC 2543 and sends no tag (12.1.1). */
  remoteTag: string;
  /** To of our requests, with tag. */
  remote: string;
  /** CSeq number of the peer's last request, -1 before the first. */
  remoteCSeq: number;
  /** Route values, the next hop first. */
  routeSet: readonly string[];
  /** URI of the peer's Contact. */
  remoteTarget: string;
}

/** A peer can use any number of To tags: beyond this many, the fork that was silent for longest is forgotten. */
const mostForks = 64;

export class Dialog implements DialogPeer {
  readonly role: DialogRole;
  /** `<Call-ID>;from-tag=<tag of the caller>`, the same for the life of the dialog. */
  readonly id: string;
  readonly callId: string;
  readonly localTag: string;
  /** With all that is the peer's: of the fork that responded last, while a client dialog is early. */
  remoteTag: string;
  /** From of our requests, with tag. */
  readonly local: string;
  remote: string;
  /** CSeq number of our last request. */
  localCSeq: number;
  remoteCSeq: number;
  routeSet: readonly string[];
  remoteTarget: string;
  #state: DialogState = 'Early';
  /**
   * The other forks of an early client dialog, by their tags: each is an early dialog of its own, which the application
   * knows by the id of all of them (12.1.2).
   */
  #forks: Map<string, DialogPeer> | null = null;

  private constructor(role: DialogRole, parts: DialogParts) {
    this.role = role;
    this.callId = parts.callId;
    this.localTag = parts.localTag;
    this.remoteTag = parts.remoteTag;
    this.local = parts.local;
    this.remote = parts.remote;
    this.localCSeq = parts.localCSeq;
    this.remoteCSeq = parts.remoteCSeq;
    this.routeSet = parts.routeSet;
    this.remoteTarget = parts.remoteTarget;
    this.id = dialogId(this.callId, role === 'uas' ? this.remoteTag : this.localTag);
  }

  /**
   * The dialog that our response to `request` creates (12.1.1).
   * @param to To of the response, with our tag
   */
  static ofServer(request: SipRequest, to: string): Dialog {
    const { headers } = request;
    const from = headers.get('from') ?? '';
    const cseq = cseqOf(headers);
    return new Dialog('uas', {
      callId: headers.get('call-id') ?? '',
      localTag: tagOf(to) ?? '',
      remoteTag: headers.fromTag ?? '',
      local: to,
      remote: from,
      // Our numbers are free to choose; continuing the caller's keeps both readable in one trace.
      localCSeq: cseq,
      remoteCSeq: cseq,
      routeSet: headers.all('record-route').flatMap(splitList),
      remoteTarget: contactUri(headers) ?? addressUri(from),
    });
  }

  /** The dialog that a response to our `request` creates (12.1.2). */
  static ofClient(request: SipRequest, response: SipResponse): Dialog {
    const from = request.headers.get('from') ?? '';
    const to = response.headers.get('to') ?? '';
    return new Dialog('uac', {
      callId: request.headers.get('call-id') ?? '',
      localTag: request.headers.fromTag ?? '',
      remoteTag: response.headers.toTag ?? '',
      local: from,
      remote: to,
      localCSeq: cseqOf(request.headers),
      remoteCSeq: -1,
      routeSet: response.headers.all('record-route').flatMap(splitList).reverse(),
      remoteTarget: contactUri(response.headers) ?? request.uri,
    });
  }

  get state(): DialogState {
    return this.#state;
  }

  /** @throws IllegalMove for a dialog that cannot change so: a bug of the caller */
  move(input: DialogInput): void {
    this.#state = step(states, this.#state, input).to;
    this.#forks = null;
  }

  /** The fork with this tag, while the dialog is early; else the peer. */
  peer(tag: string | undefined): DialogPeer {
    return this.#forks?.get(tag ?? '') ?? this;
  }

  /**
   * Applies a later response to the INVITE of an early client dialog: another fork may answer, and the 2xx sets
   * the route set again (13.2.2.4).
   */
  adopt(response: SipResponse): void {
    const { headers } = response;
    const tag = headers.toTag;
    if (tag !== undefined) {
      if (tag !== this.remoteTag) this.#turnTo(tag);
      this.remote = headers.get('to') ?? this.remote;
    }
    this.routeSet = headers.all('record-route').flatMap(splitList).reverse();
    this.refreshTarget(headers);
  }

  #turnTo(tag: string): void {
    const forks = this.#forks ?? new Map<string, DialogPeer>();
    this.#forks = forks;
    const { remoteTag, remote, remoteCSeq, routeSet, remoteTarget } = this;
    const known = forks.get(tag);
    forks.delete(tag);
    forks.set(remoteTag, { remoteTag, remote, remoteCSeq, routeSet, remoteTarget });
    for (const oldest of forks.keys()) {
      if (forks.size < mostForks) break;
      forks.delete(oldest);
    }
    this.remoteTag = tag;
    this.remoteCSeq = known?.remoteCSeq ?? -1;
    this.remoteTarget = known?.remoteTarget ?? remoteTarget;
  }

  /**
   * A target refresh (12.2): Contact of a re-INVITE, UPDATE, SUBSCRIBE, NOTIFY or REFER, or of their 2xx.
   * @param peer whose it is
   */
  refreshTarget(headers: Headers, peer: DialogPeer = this): void {
    peer.remoteTarget = contactUri(headers) ?? peer.remoteTarget;
  }

  /** Whether the tags of a request from the peer match this dialog (12.2.2), or an early one of another fork. */
  matches(headers: Headers): boolean {
    if ((headers.toTag ?? '') !== this.localTag) return false;
    const tag = headers.fromTag ?? '';
    return tag === this.remoteTag || this.#forks?.has(tag) === true;
  }

  /**
   * Counts a request from the peer: its CSeq must be higher than the previous one (12.2.2). Not for ACK and CANCEL,
   * which carry the number of their INVITE.
   */
  count(request: SipRequest): DialogRefusal | null {
    const number = cseqOf(request.headers);
    const peer = this.peer(request.headers.fromTag);
    if (number <= peer.remoteCSeq) return { status: 500, reason: 'CSeq Out Of Order' };
    peer.remoteCSeq = number;
    return null;
  }

  /** A request from the peer has a 2xx. It may refresh the target, which a rejected one does not (12.2.2). */
  accepted({ method, headers }: SipRequest): void {
    if (refreshesTarget(method)) this.refreshTarget(headers, this.peer(headers.fromTag));
  }

  /** Where our next request to `peer` goes: its Request-URI and Route values (12.2.1.1). */
  route({ routeSet, remoteTarget }: DialogPeer = this): DialogRoute {
    const [first, ...rest] = routeSet;
    if (first === undefined) return { uri: remoteTarget, routes: [], nextHop: remoteTarget };
    const hop = addressUri(first);
    if (isLoose(hop)) return { uri: remoteTarget, routes: routeSet, nextHop: hop };
    // A strict router (RFC 2543) expects itself as Request-URI and the target as last Route.
    return { uri: hop, routes: [...rest, `<${remoteTarget}>`], nextHop: hop };
  }
}

export interface DialogRoute {
  readonly uri: string;
  readonly routes: readonly string[];
  /** URI of the element that the request is sent to. */
  readonly nextHop: string;
}

interface DialogParts {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  readonly local: string;
  readonly remote: string;
  readonly localCSeq: number;
  readonly remoteCSeq: number;
  readonly routeSet: readonly string[];
  readonly remoteTarget: string;
}

/** The application's id for a dialog. Applications build it themselves, so its form is fixed. */
export function dialogId(callId: string, callerTag: string): string {
  return `${callId};from-tag=${callerTag}`;
}

/** Target refresh requests according to RFC 5057 section 5, for any usage of the dialog. */
const REFRESHING: ReadonlySet<string> = new Set(['INVITE', 'UPDATE', 'SUBSCRIBE', 'NOTIFY', 'REFER']);

export function refreshesTarget(method: string): boolean {
  return REFRESHING.has(method);
}

function isLoose(uri: string): boolean {
  return parseUri(uri)?.params.has('lr') ?? true;
}

function cseqOf(headers: Headers): number {
  return headers.cseq?.number ?? 0;
}

/**
 * The URI of the first Contact; undefined when there is none, or when it is not a SIP or SIPS URI, as a Contact
 * in a dialog must be (RFC 3261 section 8.1.1.8).
 */
export function contactUri(headers: Headers): string | undefined {
  const uri = headers.contact?.uri;
  return isSipUri(uri) ? uri : undefined;
}

/** The URI of an address value; the text itself when it is not an address. */
function addressUri(value: string): string {
  return parseAddress(value)?.uri ?? value;
}
