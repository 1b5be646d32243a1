import type { Clock } from '#shared/clock.ts';
import type { Headers } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import type { Metrics } from '../transport/metrics.ts';
import type { HepSender } from './hep-sender.ts';

/** Every SIP message that enters or leaves the engine passes here: it is counted and copied for the trace (HEP). */
export class TracedMessages {
  readonly #metrics: Metrics;
  readonly #hep: HepSender | null;
  readonly #clock: Clock;
  #lastAt = 0;

  constructor(metrics: Metrics, hep: HepSender | null, clock: Clock) {
    this.#metrics = metrics;
    this.#hep = hep;
    this.#clock = clock;
  }

  /** False when the flow is closed and nothing was sent. */
  send(flow: Flow, bytes: Buffer, headers: Headers): boolean {
    if (!flow.send(bytes)) return false;
    this.#metrics.count('sip_sent');
    if (this.#hep) this.#copy(this.#hep, flow, 'sent', bytes, headers.get('call-id') ?? null);
    return true;
  }

  received(flow: Flow, bytes: Buffer, headers: Headers | null): void {
    this.#metrics.count('sip_received');
    if (this.#hep) this.#copy(this.#hep, flow, 'received', bytes, headers?.get('call-id') ?? null);
  }

  #copy(
    hep: HepSender,
    flow: Flow,
    direction: 'sent' | 'received',
    payload: Buffer,
    callId: string | null,
  ): void {
    // The clock has millisecond resolution; copies within one are numbered upward so that the trace keeps their
    // order.
    this.#lastAt = Math.max(this.#clock.now() * 1_000, this.#lastAt + 1);
    const remote = { address: flow.remoteAddress, port: flow.remotePort };
    const local = { address: flow.localAddress, port: flow.localPort };
    const [source, destination] = direction === 'sent' ? [local, remote] : [remote, local];
    hep.send({
      at: this.#lastAt,
      source,
      destination,
      transport: flow.protocol,
      direction,
      callId,
      payload,
    });
  }
}
