/** The worker's end of a path towards a peer: one kind for SIP peers, another for browsers. */
import type { types } from 'mediasoup';
import type { LocalBrowser, LocalSdes, NegotiatedAudio } from './sdp/session.ts';

/** Our half of the keys in a description. */
export type LocalKeys = Pick<LocalSdes, 'cryptoKey'> | Pick<LocalBrowser, 'ice' | 'fingerprint'>;

export interface PeerTransport {
  readonly worker: types.PlainTransport | types.WebRtcTransport;
  /** They may change with `follow`. */
  readonly keys: LocalKeys;
  /** Whether the peer hears nothing of a stream that it heard before, once another one has come between. */
  readonly forgetsStreams: boolean;
  /** Once. */
  connect(peer: NegotiatedAudio): Promise<void>;
  /** Whether a later session has the peer of `connect`, with its address and keys. */
  serves(session: NegotiatedAudio): boolean;
  /** Takes from such a session what may change. */
  follow(session: NegotiatedAudio): Promise<void>;
  /** Audio is due from now on: a peer that does not come within a bound is lost. */
  due(): void;
  close(): void;
}

/** Where it is to be opened. */
export interface TransportPlace {
  readonly router: types.Router;
  /** Local address to bind. */
  readonly listenIp: string;
  readonly port: number;
}
