/**
 * One call over SIP in a WebSocket (RFC 7118): the only file that knows sip.js.
 *
 *     calling -> ringing -> up -> ended, and from each state to ended
 *
 * A lost WebSocket ends no call: sound takes another way. The line connects again, and tells the edge by a re-INVITE that
 * restarts ICE where the browser is now (RFC 8839).
 */
import { Inviter, type SessionDescriptionHandlerModifier, SessionState, UserAgent, Web } from 'sip.js';

export interface LineCredentials {
  readonly username: string;
  readonly password: string;
  readonly url: string;
  readonly uri: string;
}

export type LineEnd =
  | { readonly why: 'over' }
  /** No WebSocket to the edge. */
  | { readonly why: 'unreachable' }
  /** The policy of the page forbids the WebSocket. */
  | { readonly why: 'forbidden' }
  /** The edge answered no. */
  | { readonly why: 'refused'; readonly status: number; readonly phrase: string }
  /** The way to the edge was lost, and did not come back. */
  | { readonly why: 'lost' };

export interface LineEvents {
  readonly ringing: () => void;
  /** @param sound of the other side */
  readonly up: (sound: MediaStream) => void;
  /** Whether the way to the edge is broken at the moment. */
  readonly broken: (broken: boolean) => void;
  /** Once, at last. */
  readonly ended: (end: LineEnd) => void;
}

/** The edge keeps a call this long without a sign of the browser (RFC 7675): then it is over. */
const longestBreakMs = 30_000;
/** Between two attempts to reach the edge again, ms. */
const retryMs = 2_000;
/** That wait for a way to the edge; further ones are lost. */
const mostKeys = 64;
/** Between two looks whether keys that wait can be sent, ms. */
const keyLookMs = 50;
/** Of a key, ms. */
const key = { duration: 120, interToneGap: 80 };

/** A supervisor hears both parties of a call, each on its own side: only who says that it plays stereo gets it. */
const stereo: SessionDescriptionHandlerModifier = async ({ type, sdp = '' }) => ({
  type,
  sdp: type === 'offer' ? sdp.replace(/^(a=fmtp:\d+ minptime=[^\r\n]*)/m, '$1;stereo=1') : sdp,
});

/** Takes an offer back that the edge refused: sip.js would wait for its answer for ever, and the sound be gone. */
class Descriptions extends Web.SessionDescriptionHandler {
  async rollbackDescription(): Promise<void> {
    if (this.peerConnection?.signalingState !== 'have-local-offer') return;
    await this.peerConnection.setLocalDescription({ type: 'rollback' });
  }
}

export class Line {
  readonly #agent: UserAgent;
  readonly #call: Inviter;
  readonly #events: LineEvents;
  /** What the first offer is made with, and what is spoken into since. */
  #microphone: MediaStream;
  /** ms since the epoch: reconnecting since then. null: the edge is reached. */
  #brokenSince: number | null = null;
  #muted = false;
  #held = false;
  /** Keys that wait for a way to the edge. */
  #keys = '';
  #keyTimer = 0;
  #end: LineEnd | null = null;

  /** @param microphone the one in use at the end is stopped; those that were used before are the caller's to stop */
  constructor(credentials: LineCredentials, microphone: MediaStream, events: LineEvents) {
    this.#events = events;
    this.#microphone = microphone;
    const [own, target] = [
      UserAgent.makeURI('sip:phone@browser.invalid'),
      UserAgent.makeURI(credentials.uri),
    ];
    if (!own || !target) throw new Error(`cannot call ${credentials.uri}`);
    this.#agent = new UserAgent({
      uri: own,
      authorizationUsername: credentials.username,
      authorizationPassword: credentials.password,
      logBuiltinEnabled: false,
      transportOptions: { server: credentials.url, connectionTimeout: 10 },
      sessionDescriptionHandlerFactory: (session) =>
        new Descriptions(
          session.userAgent.getLogger('sip.SessionDescriptionHandler'),
          () => Promise.resolve(this.#microphone),
          // The edge needs no help to find the browser's address, and sip.js would wait for such help.
          { iceGatheringTimeout: 1, peerConnectionConfiguration: { iceServers: [] } },
        ),
    });
    this.#agent.delegate = { onDisconnect: (error) => error && this.#lostConnection() };
    const modifiers = credentials.uri.startsWith('sip:supervise@') ? [stereo] : [];
    this.#call = new Inviter(this.#agent, target, { sessionDescriptionHandlerModifiers: modifiers });
    this.#call.sessionDescriptionHandlerModifiersReInvite = modifiers;
    this.#call.stateChange.addListener((state) => {
      if (state === SessionState.Established) this.#isUp();
      if (state === SessionState.Terminated) this.#finish({ why: 'over' });
    });
  }

  async begin(): Promise<void> {
    // The only sign of it: such a WebSocket never opens nor closes, and sip.js waits.
    document.addEventListener('securitypolicyviolation', this.#forbidden);
    try {
      await this.#agent.start();
    } catch {
      return this.#finish({ why: 'unreachable' });
    }
    document.removeEventListener('securitypolicyviolation', this.#forbidden);
    if (this.#end) return;
    await this.#call.invite({
      requestDelegate: {
        onProgress: ({ message }) => {
          if (message.statusCode !== 100 && !this.#end) this.#events.ringing();
        },
        onReject: ({ message: { statusCode: status = 0, reasonPhrase: phrase = '' } }) =>
          this.#finish({ why: 'refused', status, phrase }),
      },
    });
  }

  /**
   * Keys that are pressed while there is no way to the edge, such as right after the answer, are sent when there is one:
   * the browser would refuse or lose them.
   * @returns whether the edge takes keys
   */
  press(keys: string): boolean {
    const { remoteDescription = null } = this.#descriptions?.peerConnection ?? {};
    if (!/^a=rtpmap:\d+ telephone-event/im.test(remoteDescription?.sdp ?? '')) return false;
    this.#keys = (this.#keys + keys).slice(0, mostKeys);
    this.#sendKeys();
    return true;
  }

  mute(muted: boolean): void {
    this.#muted = muted;
    this.#gate();
  }

  /** @throws Error when the edge refuses it */
  async hold(held: boolean): Promise<void> {
    await this.#offerAgain({ hold: held });
    this.#held = held;
    this.#gate();
  }

  /** Speaks into another microphone, also before the call is offered. */
  async useMicrophone(microphone: MediaStream): Promise<void> {
    this.#microphone = microphone;
    const [track] = microphone.getAudioTracks();
    const [sender] = this.#descriptions?.peerConnection?.getSenders() ?? [];
    if (!track || !sender) return;
    await sender.replaceTrack(track);
    this.#gate();
  }

  hangUp(): void {
    const { state } = this.#call;
    if (state === SessionState.Established) void this.#call.bye().catch(() => undefined);
    else if (state === SessionState.Establishing) void this.#call.cancel().catch(() => undefined);
    // Not waited for: whoever hangs up is done, also when the edge does not answer.
    this.#finish({ why: 'over' });
  }

  /** The browser has another network: says so at once instead of waiting until packets are missed. */
  moved(): void {
    if (this.#call.state === SessionState.Established) this.#lostConnection();
  }

  get #descriptions(): Descriptions | null {
    const { sessionDescriptionHandler: found } = this.#call;
    return found instanceof Descriptions ? found : null;
  }

  get #dtmf(): RTCDTMFSender | null {
    return this.#descriptions?.peerConnection?.getSenders()[0]?.dtmf ?? null;
  }

  #sendKeys(): void {
    clearTimeout(this.#keyTimer);
    if (this.#keys === '' || this.#end) return;
    const dtmf = this.#dtmf;
    if (dtmf?.canInsertDTMF && this.#descriptions?.peerConnection?.connectionState === 'connected') {
      // In place of those that are not sent yet.
      dtmf.insertDTMF(dtmf.toneBuffer + this.#keys, key.duration, key.interToneGap);
      this.#keys = '';
    } else this.#keyTimer = window.setTimeout(() => this.#sendKeys(), keyLookMs); // No event says that it can.
  }

  /** sip.js goes on sending while it holds. */
  #gate(): void {
    for (const { track } of this.#descriptions?.peerConnection?.getSenders() ?? [])
      if (track) track.enabled = !this.#muted && !this.#held;
  }

  #isUp(): void {
    const descriptions = this.#descriptions;
    if (!descriptions || this.#end) return;
    const { peerConnection } = descriptions;
    peerConnection?.addEventListener('iceconnectionstatechange', () => {
      const { iceConnectionState: state } = peerConnection;
      if (state === 'disconnected' || state === 'failed') this.#lostConnection();
    });
    this.#events.up(descriptions.remoteMediaStream);
  }

  /** Resolves with the edge's answer. */
  #offerAgain(options: { hold?: boolean; iceRestart?: boolean }): Promise<void> {
    const { hold = this.#held, iceRestart = false } = options;
    return new Promise((resolve, reject) => {
      const sessionDescriptionHandlerOptions: Web.SessionDescriptionHandlerOptions & { hold: boolean } = {
        hold,
        ...(iceRestart && { offerOptions: { iceRestart } }),
      };
      this.#call
        .invite({
          sessionDescriptionHandlerOptions,
          requestDelegate: {
            onAccept: () => resolve(),
            onReject: ({ message }) => reject(new Error(`${message.statusCode} ${message.reasonPhrase}`)),
          },
        })
        .catch(reject);
    });
  }

  #lostConnection(): void {
    if (this.#end || this.#brokenSince !== null) return;
    if (this.#call.state !== SessionState.Established) {
      this.#finish({ why: 'lost' });
      return;
    }
    this.#brokenSince = Date.now();
    this.#events.broken(true);
    void this.#reconnect(this.#brokenSince);
  }

  /** Tries until the edge has answered where the browser is now, or has given the call up. */
  async #reconnect(since: number): Promise<void> {
    while (!this.#end) {
      try {
        if (!this.#agent.isConnected()) await this.#agent.reconnect();
        await this.#offerAgain({ iceRestart: true });
        break;
      } catch {
        if (Date.now() - since > longestBreakMs) this.#finish({ why: 'lost' });
        else await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    this.#brokenSince = null;
    if (!this.#end) this.#events.broken(false);
  }

  readonly #forbidden = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): void => {
    if (effectiveDirective === 'connect-src' && blockedURI.startsWith('wss'))
      this.#finish({ why: 'forbidden' });
  };

  #finish(end: LineEnd): void {
    if (this.#end) return;
    this.#end = end;
    document.removeEventListener('securitypolicyviolation', this.#forbidden);
    this.#events.ended(end);
    // With it the WebSocket is closed, once a BYE or CANCEL on it was answered.
    void this.#agent.stop().catch(() => undefined);
  }
}
