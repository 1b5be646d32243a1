import type { ConnectionFailure } from '#shared/connection-faults.ts';
import type { Flow } from '../transport/flow.ts';
import type { Context } from './context.ts';
import type { OutgoingRequest } from './outgoing-request.ts';

/** Connections over which our requests await responses. Detects the ones whose peer has gone silent. */
export class AwaitedFlows {
  readonly #context: Pick<Context, 'clock' | 'transport' | 'metrics' | 'log'>;
  readonly #waiting = new Map<Flow, Set<OutgoingRequest>>();

  constructor(context: Pick<Context, 'clock' | 'transport' | 'metrics' | 'log'>) {
    this.#context = context;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** A request was sent over `flow`, which stays open until the response. */
  add(outgoing: OutgoingRequest, flow: Flow): void {
    flow.pin();
    if (flow.outbound) this.#watch(outgoing, flow);
    const sharing = this.#waiting.get(flow);
    if (sharing) sharing.add(outgoing);
    else this.#waiting.set(flow, new Set([outgoing]));
  }

  /** A request has ended: it no longer keeps the connection open. */
  remove(outgoing: OutgoingRequest): void {
    const { flow } = outgoing;
    if (!flow) return;
    flow.unpin();
    const sharing = this.#waiting.get(flow);
    sharing?.delete(outgoing);
    if (sharing?.size === 0) this.#waiting.delete(flow);
  }

  /**
   * A live peer sends something soon, at least a 100 (RFC 3261 section 17.2.1). When nothing arrives, later
   * requests avoid this connection without waiting for the lost request to time out.
   */
  #watch(outgoing: OutgoingRequest, flow: Flow): void {
    const { clock, transport, metrics } = this.#context;
    const { silenceTimeoutMs } = transport.limits;
    const timer = clock.after(silenceTimeoutMs, () => {
      if (flow.closed || !outgoing.flowIsSilent) return;
      metrics.count('flows_set_aside');
      const { remoteAddress, remotePort } = flow;
      const fields = { remoteAddress, remotePort, silent_ms: silenceTimeoutMs };
      this.#context.log('warn', 'no new requests on this connection: its peer is silent', fields);
      flow.setAside();
    });
    outgoing.watch = timer;
  }

  /**
   * When the peer of an outbound connection vanishes, TCP notices only after a quarter of an hour. The next
   * request opens a new connection.
   */
  leaveIfDead({ flow, flowIsSilent }: OutgoingRequest): void {
    if (!flow?.outbound || flow.closed || !flowIsSilent) return;
    this.#context.metrics.count('flows_given_up');
    const { remoteAddress, remotePort } = flow;
    this.#context.log('warn', 'connection closed: its peer has gone silent', { remoteAddress, remotePort });
    flow.close('the peer has gone silent');
  }

  /** A connection has closed: the responses awaited over it will not arrive. */
  closed(flow: Flow, loss: ConnectionFailure): void {
    const waiting = this.#waiting.get(flow);
    if (!waiting) return;
    this.#waiting.delete(flow);
    const text = `${flow.remoteAddress}:${flow.remotePort}: connection lost: ${loss.text}`;
    for (const outgoing of waiting) outgoing.transaction.transportFailed({ ...loss, text });
  }
}
