/** Opens a WebSocket to a checked address, for both programs (contract 1.9). Redirects are not followed. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import { bareHost, type ConnectParts, connectJudged } from './connect.ts';
import { failureWords, OutgoingFailure } from './failure.ts';
import { readInPieces } from './read-in-pieces.ts';
import { ReadingBudget } from './reading-budget.ts';

export interface WebSocketOrder {
  /** ws or wss */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Subprotocols in the order of the offer; a server that selects none (RFC 6455 section 4.2.2) gets the first. */
  readonly protocols: readonly string[];
  readonly maxMessageBytes: number;
  /** ms for the closing handshake */
  readonly closeWithinMs: number;
  readonly clock: Clock;
  /** Called before any message can arrive. What is read of the server has a budget. */
  readonly opened: (socket: WebSocket, budget: ReadingBudget) => void;
  /** Called each time the server is held back because it sent more than its budget. */
  readonly held: () => void;
}

/** Maximum bytes of a rejection in an error. */
const quotedBytes = 300;

/**
 * Resolves when the socket is open, after `opened`; from then on it belongs to the caller.
 * @param signal aborts it at any stage; its reason is thrown
 * @throws OutgoingFailure
 */
export async function openWebSocket(
  order: WebSocketOrder,
  parts: ConnectParts,
  signal: AbortSignal,
): Promise<void> {
  const { url, headers, protocols, maxMessageBytes, closeWithinMs } = order;
  const connection = await connectJudged(url, parts, signal);
  const options: ClientOptions & { closeTimeout: number } = {
    headers,
    createConnection: () => connection,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    closeTimeout: closeWithinMs,
    followRedirects: false,
  };
  const socket = new WebSocket(url, [...protocols], options);
  const [first] = protocols;
  socket.on('upgrade', (response) => {
    if (first !== undefined) response.headers['sec-websocket-protocol'] ??= first;
  });
  try {
    await untilOpen(socket, connection, order, signal);
  } catch (error) {
    socket.terminate();
    connection.destroy();
    throw error;
  }
}

interface Broken {
  /** RFC 6455 section 7.4.1 */
  readonly code: number;
  /** What the server did, after its name. */
  readonly why: string;
}

/**
 * Why we close a connection because of what its server sent; null: it was lost otherwise.
 * @param error an `error` event of the socket
 */
export function brokenBy(error: Error, maxMessageBytes: number): Broken | null {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
    return { code: 1009, why: `sent a message of more than ${counted(maxMessageBytes, 'octet')}` };
  if (code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS')
    return { code: 1008, why: 'sent a message in too many pieces' };
  if (!code.startsWith('WS_ERR_')) return null;
  const words = error.message.replace('Invalid WebSocket frame: ', '');
  return { code: 1002, why: `sent what is not allowed in a WebSocket: ${words}` };
}

function untilOpen(
  socket: WebSocket,
  connection: Socket,
  { url, opened, clock, held }: WebSocketOrder,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    socket.once('open', () => {
      signal.removeEventListener('abort', aborted);
      opened(socket, budgetOf(socket, connection, clock, held));
      resolve();
    });
    // Stays attached: a socket that is terminated while it opens reports an error later.
    socket.on('error', (error) => {
      signal.removeEventListener('abort', aborted);
      reject(new OutgoingFailure('network', failureWords(bareHost(url), error), error));
    });
    socket.once('unexpected-response', (_request, response) => {
      rejection(response).then(
        (words) => reject(new OutgoingFailure('refused', `${bareHost(url)} answered ${words}`)),
        (error: unknown) => reject(new OutgoingFailure('network', failureWords(bareHost(url), error), error)),
      );
    });
  });
}

/** Octets are counted as they come: a message may come in many frames, and frames may have no message. */
function budgetOf(socket: WebSocket, connection: Socket, clock: Clock, held: () => void): ReadingBudget {
  const budget = new ReadingBudget(clock, socket, held);
  readInPieces(connection, () => socket.isPaused);
  connection.on('data', ({ length }: Buffer) => budget.octets(length));
  for (const event of ['message', 'ping', 'pong']) socket.on(event, () => budget.message());
  connection.once('close', () => budget.end());
  return budget;
}

/** Status and the start of the body. */
async function rejection(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= quotedBytes) break;
  }
  const text = Buffer.concat(chunks).subarray(0, quotedBytes).toString('utf8').replace(/\s+/g, ' ').trim();
  return text === '' ? `${response.statusCode}` : `${response.statusCode} ${text}`;
}
