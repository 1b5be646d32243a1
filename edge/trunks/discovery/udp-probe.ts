/** OPTIONS over UDP, with the retransmissions of RFC 3261 section 17.1.2.2. */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { performance } from 'node:perf_hooks';
import {
  type AttemptResult,
  answered,
  type Candidate,
  connectFailed,
  type ProbeLimits,
  unanswered,
} from './attempt.ts';
import { type OptionsRequest, optionsRequest } from './options-request.ts';
import { isAnswer, parseResponse } from './sip-response.ts';

/** Timer E: T1, doubled up to T2. */
const t1Ms = 500;
const t2Ms = 4000;

/** Never rejects. @param signal ends the probe early, with a time-out */
export function probeUdp(
  candidate: Candidate,
  limits: ProbeLimits,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  // A connected socket gets ICMP errors for closed ports, and packets from the probed address only.
  const socket = createSocket(isIPv6(candidate.address) ? 'udp6' : 'udp4');
  let request: OptionsRequest | null = null;
  let sentAt = 0;
  let heard: string | null = null;
  let retransmission: NodeJS.Timeout | undefined;
  const limit = setTimeout(() => resolve(unanswered('timeout', heard)), limits.attemptMs);
  const abort = () => resolve(unanswered('timeout', heard));
  signal.addEventListener('abort', abort);

  const send = (pauseMs: number) => {
    if (request) socket.send(request.text);
    retransmission = setTimeout(() => send(Math.min(pauseMs * 2, t2Ms)), pauseMs);
  };
  socket.on('error', (error) => resolve(connectFailed(error)));
  socket.on('message', (bytes) => {
    const response = parseResponse(bytes.toString('latin1'));
    if (response && request && isAnswer(response, request.branch)) {
      resolve(answered(response, performance.now() - sentAt));
    } else {
      heard = response ? `only ${response.status} was received` : 'the data received was not a SIP response';
    }
  });
  socket.connect(candidate.port, candidate.address, (error?: Error) => {
    // Node also calls this for a failed connection, and then emits no error.
    if (error) return resolve(connectFailed(error));
    const { address, port } = socket.address();
    request = optionsRequest({ ...candidate, localAddress: address, localPort: port });
    sentAt = performance.now();
    send(t1Ms);
  });
  if (signal.aborted) abort();

  return promise.finally(() => {
    clearTimeout(limit);
    clearTimeout(retransmission);
    signal.removeEventListener('abort', abort);
    socket.close();
  });
}
