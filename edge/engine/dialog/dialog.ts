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

export class Dialog {
  readonly role: DialogRole;
  /** `<Call-ID>;from-tag=<tag of the caller>`, the same for the life of the dialog. */
  readonly id: string;
  readonly callId: string;
  readonly localTag: string;
  /** Empty when the peer follows RFC 2543 and sends no tag (12.1.1). May change while a client dialog is early. */
  remoteTag: string;
  /** From of our requests, with tag. */
  readonly local: string;
  /** To of our requests, with tag. */
  remote: string;
  /** CSeq number of our last request. */
  localCSeq: number;
  /** CSeq number of the peer's last request, -1 before the first. */
  remoteCSeq: number;
  /** Route values, the next hop first. */
  routeSet: readonly string[];
  /** URI of the peer's Contact. */
  remoteTarget: string;
  #state: DialogState = 'Early';

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
  }

  /**
   * Applies a later response to the INVITE of an early client dialog: another fork may answer, and the 2xx sets
   * the route set again (13.2.2.4).
   */
  adopt(response: SipResponse): void {
    const { headers } = response;
    const to = headers.get('to') ?? this.remote;
    const tag = headers.toTag;
    if (tag !== undefined) {
      this.remote = to;
      this.remoteTag = tag;
    }
    this.routeSet = headers.all('record-route').flatMap(splitList).reverse();
    this.refreshTarget(headers);
  }

  /** A target refresh (12.2): Contact of a re-INVITE, UPDATE, SUBSCRIBE, NOTIFY or REFER, or of their 2xx. */
  refreshTarget(headers: Headers): void {
    this.remoteTarget = contactUri(headers) ?? this.remoteTarget;
  }

  /** Whether the tags of a request from the peer match this dialog (12.2.2). */
  matches(headers: Headers): boolean {
    return (headers.toTag ?? '') === this.localTag && (headers.fromTag ?? '') === this.remoteTag;
  }

  /**
   * Accepts a request from the peer: its CSeq must be higher than the previous one (12.2.2), and it may refresh
   * the target. Not for ACK and CANCEL, which carry the number of their INVITE.
   */
  accept(request: SipRequest): DialogRefusal | null {
    const number = cseqOf(request.headers);
    if (number <= this.remoteCSeq) return { status: 500, reason: 'CSeq Out Of Order' };
    this.remoteCSeq = number;
    if (refreshesTarget(request.method)) this.refreshTarget(request.headers);
    return null;
  }

  /** Where our next request goes: its Request-URI and Route values (12.2.1.1). */
  route(): DialogRoute {
    const [first, ...rest] = this.routeSet;
    if (first === undefined) return { uri: this.remoteTarget, routes: [], nextHop: this.remoteTarget };
    const hop = addressUri(first);
    if (isLoose(hop)) return { uri: this.remoteTarget, routes: this.routeSet, nextHop: hop };
    // A strict router (RFC 2543) expects itself as Request-URI and the target as last Route.
    return { uri: hop, routes: [...rest, `<${this.remoteTarget}>`], nextHop: hop };
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
