/** Streams of a real media worker, without a peer: what tests of its pipes send, and what it says of itself. */
import { readFileSync } from 'node:fs';
import type { types } from 'mediasoup';

const format = { kind: 'audio', mimeType: 'audio/PCMU', clockRate: 8000 } as const;
const codecs = [{ ...format, preferredPayloadType: 0 }];

/** Of a producer of PCMU. */
export const pcmuStream = {
  kind: 'audio',
  rtpParameters: { codecs: [{ ...format, payloadType: 0 }], encodings: [{ ssrc: 7 }] },
} as const satisfies types.ProducerOptions;

/** An RTP packet with this number, which is in its payload too: the worker renumbers packets. */
export function numberedPacket(sequence: number, length = 172): Buffer {
  const octets = Buffer.alloc(length, sequence);
  octets.set([0x80, 0, 0, sequence, 0, 0, 0, sequence, 0, 0, 0, 7]);
  return octets;
}

/** A stream that the worker sends back. */
export async function loopedStream(worker: types.Worker) {
  const router = await worker.createRouter({ mediaCodecs: codecs });
  const direct = await router.createDirectTransport();
  const producer = await direct.produce(pcmuStream);
  const consumer = await direct.consume({ producerId: producer.id, rtpCapabilities: { codecs } });
  return { router, producer, consumer };
}

/** How often a process has written; packets over the network are not among them. */
export function writesOf(pid: number): number {
  return Number(/^syscw: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}
