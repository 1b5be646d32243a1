/** Passes the bytes of a connection through framing, parsing and validation, as the engine does. */
import { type FrameEvent, StreamFramer } from '../../edge/engine/message/framing.ts';
import type { SipMessage } from '../../edge/engine/message/message.ts';
import { answerableRequest, parseMessage } from '../../edge/engine/message/parse.ts';
import { validateRequest, validateResponse } from '../../edge/engine/message/validate.ts';

export interface Outcome {
  /** The outcome of each message, in order, in the words of the tables. */
  readonly said: string[];
  /** The messages that passed. */
  readonly accepted: SipMessage[];
}

/**
 * - `accept INVITE`, `accept 200`: the message reaches its transaction
 * - `answer 400 Bad To`: rejected with this status and reason phrase
 * - `drop (why)`: no answer, the connection stays open
 * - `answer 400 …, cut` and `cut (why)`: the connection closes, with or without an answer
 * - `wait`: the message is incomplete; the time limit for messages closes the connection
 *
 * Keepalives are omitted.
 */
export function feed(chunks: readonly Buffer[]): Outcome {
  const framer = new StreamFramer();
  const outcome: Outcome = { said: [], accepted: [] };
  for (const chunk of chunks) for (const event of framer.push(chunk)) take(event, outcome);
  if (framer.pendingBytes > 0) outcome.said.push('wait');
  return outcome;
}

function take(event: FrameEvent, { said, accepted }: Outcome): void {
  if (event.kind === 'message') said.push(judge(event.bytes, accepted));
  else if (event.kind === 'error') {
    const request = answerableRequest(event.partial);
    said.push(request ? `answer ${event.status} ${event.reason}, cut` : `cut (${event.reason})`);
  }
}

function judge(bytes: Buffer, accepted: SipMessage[]): string {
  const result = parseMessage(bytes);
  if (!result.ok)
    return result.partial ? `answer ${result.status} ${result.reason}` : `drop (${result.reason})`;
  const { message } = result;
  if (message.kind === 'response') {
    const fault = validateResponse(message);
    if (fault !== null) return `drop (${fault})`;
    accepted.push(message);
    return `accept ${message.status}`;
  }
  const rejection = validateRequest(message);
  if (rejection !== null) return `answer ${rejection.status} ${rejection.reason}`;
  accepted.push(message);
  return `accept ${message.method}`;
}
