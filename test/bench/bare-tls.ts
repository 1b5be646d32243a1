/**
 * The least that a SIP server in Node can cost: its TLS server, answers made of the request's own lines, and no SIP
 * engine. signaling.bench.ts measures it beside the engines, so that its table shows what part is Node's own.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:tls';
import { fakeAnswer } from '../kit/fakes/fake-media.ts';

/** Fields that an answer repeats (RFC 3261 section 8.2.6.2). */
const repeated = /^(?:Via|From|Call-ID|CSeq): .*\r\n/gm;

/** @param listens called when it takes connections */
export function answerByTls(
  { port, cert, key }: { port: number; cert: string; key: string },
  listens: () => void,
): Server {
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    // SIPp writes each message as a TLS record, and Node reads record by record.
    socket.on('data', (record) => {
      const answer = answerTo(record.toString('latin1'), port);
      if (answer !== null) socket.write(answer);
    });
  });
  return server.listen(port, '127.0.0.1', listens);
}

/** @returns null for an ACK */
export function answerTo(request: string, port: number): string | null {
  const method = request.slice(0, request.indexOf(' '));
  if (method === 'ACK') return null;
  const to = /^To: .*$/m.exec(request)?.[0].trimEnd() ?? '';
  const tag = to.includes(';tag=') ? '' : ';tag=bare';
  const head = `SIP/2.0 200 OK\r\n${(request.match(repeated) ?? []).join('')}${to}${tag}\r\n`;
  if (method !== 'INVITE') return `${head}Content-Length: 0\r\n\r\n`;
  const contact = `Contact: <sip:127.0.0.1:${port};transport=tls>\r\n`;
  return `${head}${contact}Content-Type: application/sdp\r\nContent-Length: ${fakeAnswer.length}\r\n\r\n${fakeAnswer}`;
}
