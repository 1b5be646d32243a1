/** A provider over WebSocket: the protocol decides what is sent and what it means, this carries it. */
import { parsedMessage } from '../json-message.ts';
import {
  openSpeechSocket,
  placeOf,
  type SpeechServer,
  type SpeechSocket,
  type SpeechSocketDeps,
  withoutKey,
} from '../speech-socket.ts';
import { Interims } from './interims.ts';
import type { ProviderConnection, ProviderEvents, TranscriptionProvider } from './provider.ts';
import type { TranscriptionOptions } from './transcription.ts';

/** The messages of one connection. */
export interface ProtocolSession {
  /** Sent when the connection opens. */
  readonly hello: string | null;
  /** Whether audio must wait for `ready`. */
  readonly waitsForReady: boolean;
  /** Sent when there was nothing to send for some seconds; null: nothing. */
  readonly keepAlive: string | null;
  readonly goodbye: string | null;
  audio(samples: Int16Array): string | Uint8Array;
  /** The message that ends a turn. */
  end(): string;
  receive(message: unknown, events: SessionEvents): void;
  /** Whether a message tells words that may still change, and the next one of its kind tells them again. */
  isInterim?(message: string): boolean;
}

export interface SessionEvents extends Omit<ProviderEvents, 'lost' | 'turnFailed'> {
  turnFailed(why: string): void;
  ready(): void;
  /** The server reports an error after which the connection is useless. */
  failed(why: string): void;
}

export interface SocketProtocol
  extends Pick<TranscriptionProvider, 'continuous' | 'pieceMs' | 'finalWithinMs'> {
  url(server: SpeechServer, options: TranscriptionOptions): URL;
  headers(apiKey: string): Readonly<Record<string, string>>;
  session(server: SpeechServer, options: TranscriptionOptions): ProtocolSession;
}

export function socketProvider(
  protocol: SocketProtocol,
  server: SpeechServer,
  deps: SpeechSocketDeps,
): TranscriptionProvider {
  const { continuous, pieceMs, finalWithinMs } = protocol;
  return {
    name: placeOf(server.url),
    continuous,
    pieceMs,
    finalWithinMs,
    connect: (options, events, signal) => connect(protocol, server, options, deps, events, signal),
  };
}

async function connect(
  protocol: SocketProtocol,
  server: SpeechServer,
  options: TranscriptionOptions,
  deps: SpeechSocketDeps,
  events: ProviderEvents,
  signal: AbortSignal,
): Promise<ProviderConnection> {
  const session = protocol.session(server, options);
  const ready = Promise.withResolvers<void>();
  // A failure before the connection is used rejects; later ones are events.
  let pending = true;
  let open: SpeechSocket | null = null;
  const lost = (why: string, given: boolean) => {
    const error = new Error(why);
    interims.drop();
    open?.close(null);
    if (pending) ready.reject(error);
    else events.lost(error, given);
  };
  const worded = (why: string) => `the error of ${placeOf(server.url)}: ${withoutKey(why, server)}`;
  const own: SessionEvents = {
    ...events,
    ready: () => ready.resolve(),
    turnFailed: (why) => events.turnFailed(new Error(worded(why))),
    failed: (why) => lost(worded(why), false),
  };
  const receive = (text: string) => {
    const message = parsedMessage(text);
    if (message === undefined) lost(`${placeOf(server.url)} sent a message that is not JSON`, false);
    else session.receive(message, own);
  };
  const interims = new Interims(deps.clock, receive);
  const headers = server.apiKey === null ? {} : protocol.headers(server.apiKey);
  const url = protocol.url(server, options);
  await openSpeechSocket(
    server,
    url,
    headers,
    deps,
    {
      opened: (socket) => {
        open = socket;
        if (session.hello !== null) socket.send(session.hello);
        if (!session.waitsForReady) ready.resolve();
      },
      text: (text) => {
        if (session.isInterim?.(text)) return interims.add(text);
        interims.flush();
        receive(text);
        return false;
      },
      binary: () => lost(`${placeOf(server.url)} sent a binary message instead of words`, false),
      lost: (why) => lost(why, false),
      idle: () => {
        if (session.keepAlive !== null) open?.send(session.keepAlive);
      },
    },
    signal,
  );
  const aborted = () => lost('the connection was not used', false);
  signal.addEventListener('abort', aborted, { once: true });
  try {
    await ready.promise;
  } finally {
    pending = false;
    signal.removeEventListener('abort', aborted);
  }
  const socket = opened(open);
  return {
    get bufferedBytes() {
      return socket.bufferedBytes;
    },
    heldSince: (at) => socket.heldSince(at),
    audio: (samples) => socket.send(session.audio(samples)),
    end: () => socket.send(session.end()),
    close: () => {
      interims.drop();
      socket.close(session.goodbye);
    },
  };
}

function opened(socket: SpeechSocket | null): SpeechSocket {
  if (socket === null) throw new Error('the connection has no socket');
  return socket;
}

/** Samples as 16-bit little-endian octets. */
export function linear16(samples: Int16Array): Buffer {
  const octets = Buffer.allocUnsafe(samples.length * 2);
  for (let i = 0; i < samples.length; i++) octets.writeInt16LE(samples[i] ?? 0, 2 * i);
  return octets;
}
