/** One connection of the engine, whose wire and owner record what happens. */
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import type { TransportLimits } from '#shared/engine-protocol/limits.ts';
import { Connection, type ConnectionOwner } from '../../../edge/engine/transport/connection.ts';
import { ConnectionSlot } from '../../../edge/engine/transport/connection-slot.ts';
import { DEFAULT_TRANSPORT_LIMITS } from '../../../edge/engine/transport/limits.ts';

export const MESSAGE = 'OPTIONS sip:b SIP/2.0\r\nl: 0\r\n\r\n';

/** A connection whose wire and owner record their calls. */
export function connection(
  options: {
    outbound?: boolean;
    namedByPeer?: boolean;
    stranger?: boolean;
    limits?: Partial<TransportLimits>;
  } = {},
) {
  const events: string[] = [];
  let held = 0;
  const wire = { protocol: 'tls' as const, queuedBytes: 0 };
  const owner = {
    tick: 0,
    limits: { ...DEFAULT_TRANSPORT_LIMITS, ...options.limits },
    events: {
      message: (_flow: unknown, bytes: Buffer) => events.push(`message of ${bytes.length}`),
      frameError: (_flow: unknown, error: { reason: string }) => events.push(`frame error: ${error.reason}`),
      closed: (_flow: unknown, { text }: ConnectionFailure) => events.push(`closed: ${text}`),
    },
    closing: () => events.push('closing'),
    gone: () => events.push('gone'),
    count: () => {},
    unfinished: (_flow: unknown, octets: number) => {
      held = octets;
    },
  } satisfies ConnectionOwner;
  const slot = new ConnectionSlot('192.0.2.1', '192.0.2.0/24', options.stranger ? null : 'org', () => {});
  const flow = new Connection(
    owner,
    {
      get queuedBytes() {
        return wire.queuedBytes;
      },
      protocol: wire.protocol,
      write: (bytes) => events.push(`write ${JSON.stringify(bytes.toString())}`),
      end: () => events.push('end'),
      destroy: () => events.push('destroy'),
      pause: () => events.push('pause'),
      resume: () => events.push('resume'),
    },
    { remoteAddress: '192.0.2.1', remotePort: 5061, localAddress: '192.0.2.2', localPort: 40_000 },
    options.outbound || options.namedByPeer ? null : slot,
    options.namedByPeer,
  );
  /** Advances the clock by seconds, with one check each. */
  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      owner.tick++;
      flow.checkTime();
    }
  };
  const receive = (text: string) => flow.received(Buffer.from(text, 'latin1'));
  /** Events since the last call. */
  const news = () => events.splice(0);
  return { flow, slot, wire, pass, receive, news, held: () => held };
}
