/**
 * One DNS question to one name server: over UDP, and over TCP when the answer is too long for a datagram (RFC 1035
 * section 4.2, RFC 7766). With EDNS (RFC 6891), and without it for servers that do not know it. Node's own client does
 * not report the TTL of SRV and NAPTR records.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIPv6 } from 'node:net';
import packet, { type Answer, type DecodedPacket, type Packet, type RecordType } from 'dns-packet';

export interface NameServer {
  readonly address: string;
  readonly port: number;
}

export interface ServerAnswer {
  /** The aliases (CNAME) of the name, and the records at their end. */
  readonly answers: readonly Answer[];
  /** With an empty answer the SOA record of the zone (RFC 2308 section 3). */
  readonly authorities: readonly Answer[];
}

/** A server gave no usable answer; `code` is named as those of Node's client: ETIMEOUT, ESERVFAIL, EREFUSED … */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Fits into one packet on every network (RFC 9715). */
const maxDatagramBytes = 1_232;
/** The length prefix has 16 bits. */
const maxStreamBytes = 65_537;

/**
 * Resolves with the answer; without records for a name or type that does not exist.
 * @param timeoutMs for the whole exchange, over UDP and TCP
 * @throws NoAnswer
 */
export async function askServer(
  name: string,
  type: RecordType,
  server: NameServer,
  timeoutMs: number,
): Promise<ServerAnswer> {
  if (!isName(name)) throw new NoAnswer('EBADNAME');
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    let answer = await exchange(name, type, server, true, signal);
    if (answer.rcode === 'FORMERR' || answer.rcode === 'NOTIMP') {
      answer = await exchange(name, type, server, false, signal);
    }
    if (answer.rcode !== 'NOERROR' && answer.rcode !== 'NXDOMAIN') throw new NoAnswer(`E${answer.rcode}`);
    return { answers: answer.answers ?? [], authorities: answer.authorities ?? [] };
  } catch (error) {
    if (signal.aborted) throw new NoAnswer('ETIMEOUT');
    if (error instanceof NoAnswer) throw error;
    throw new NoAnswer(error instanceof Error && 'code' in error ? String(error.code) : 'EBADRESP');
  }
}

type Response = DecodedPacket & { readonly rcode: string };

async function exchange(
  name: string,
  type: RecordType,
  server: NameServer,
  edns: boolean,
  signal: AbortSignal,
): Promise<Response> {
  const question: Packet = {
    type: 'query',
    // Together with the random source port this is what protects against forged answers (RFC 5452).
    id: randomInt(0, 65_536),
    flags: packet.RECURSION_DESIRED,
    questions: [{ name, type, class: 'IN' }],
    ...(edns && {
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: maxDatagramBytes,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ],
    }),
  };
  const answer = await overUdp(question, server, signal);
  return answer.flag_tc ? overTcp(question, server, signal) : answer;
}

/** RFC 1035 section 2.3.4; dns-packet would send a longer label as a reference to another name. */
function isName(name: string): boolean {
  const plain = plainName(name);
  const labels = plain.split('.').map((label) => Buffer.byteLength(label));
  return Buffer.byteLength(plain) <= 253 && labels.every((length) => length >= 1 && length <= 63);
}

async function overUdp(
  question: Packet,
  { address, port }: NameServer,
  signal: AbortSignal,
): Promise<Response> {
  // A connected socket gets datagrams of the server only, and ICMP errors.
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const abort = () => reject(new NoAnswer('ETIMEOUT'));
  signal.addEventListener('abort', abort);
  socket.on('error', reject);
  socket.on('message', (bytes) => {
    // Anything else is a late answer to another question, or forged.
    const answer = answerTo(question, bytes);
    if (answer) resolve(answer);
  });
  socket.connect(port, address, (error?: Error) => {
    if (error) reject(error);
    else socket.send(packet.encode(question));
  });
  if (signal.aborted) abort();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
    socket.close();
  }
}

async function overTcp(
  question: Packet,
  { address, port }: NameServer,
  signal: AbortSignal,
): Promise<Response> {
  const socket = connect({ host: address, port, signal, noDelay: true });
  try {
    await once(socket, 'connect', { signal });
    socket.write(packet.streamEncode(question));
    let bytes = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes = Buffer.concat([bytes, chunk]);
      const wanted = bytes.length < 2 ? maxStreamBytes : 2 + bytes.readUInt16BE(0);
      if (bytes.length < wanted) continue;
      const answer = answerTo(question, bytes.subarray(2, wanted));
      if (answer) return answer;
      break;
    }
    throw new NoAnswer('EBADRESP');
  } finally {
    socket.on('error', () => {});
    socket.destroy();
  }
}

/** The decoded message when it answers the question; null for anything else. */
function answerTo(question: Packet, bytes: Buffer): Response | null {
  let answer: DecodedPacket;
  try {
    answer = packet.decode(bytes);
  } catch {
    return null;
  }
  const [asked] = question.questions ?? [];
  const [echo] = answer.questions ?? [];
  const echoed =
    echo !== undefined &&
    asked !== undefined &&
    echo.type === asked.type &&
    plainName(echo.name) === plainName(asked.name);
  // A server that cannot read the question may leave it out (RFC 1035 section 4.1.1, FORMERR).
  const isAnswer =
    answer.flag_qr && answer.id === question.id && (echoed || (answer.questions ?? []).length === 0);
  return isAnswer && 'rcode' in answer && typeof answer.rcode === 'string' ? (answer as Response) : null;
}

/** Lower case, without the root's dot. The root itself, which in an SRV record means "no service", is "". */
export function plainName(name: string): string {
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}
