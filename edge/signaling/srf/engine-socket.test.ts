import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { openSrf } from './srf.ts';

const server = createServer({ allowHalfOpen: true });
afterEach(() => {
  server.close();
});

function frame(payload: string): string {
  return `${Buffer.byteLength(payload)}#${payload}`;
}

/** An engine that accepts the secret of whoever connects. */
async function engine(): Promise<{ port: number; application: Promise<Socket> }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const application = once(server, 'connection').then(([socket]: Socket[]) => {
    if (!socket) throw new Error('no connection');
    socket.once('data', (octets: Buffer) => {
      const id = /#([^|]+)\|authenticate/.exec(octets.toString())?.[1];
      socket.write(frame(`x|response|${id}|OK|tls/192.0.2.1:5061|v0.9.10|`));
    });
    return socket;
  });
  return { port: (server.address() as AddressInfo).port, application };
}

const options = [
  'OPTIONS sip:a@192.0.2.1 SIP/2.0',
  'From: <sip:b@192.0.2.2>;tag=b',
  'To: <sip:a@192.0.2.1>',
  'Call-ID: one',
  'CSeq: 1 OPTIONS',
  'Content-Length: 0',
  '\r\n',
].join('\r\n');

it('drops what arrives while it closes, also the rest of a frame', async () => {
  const { port, application } = await engine();
  const request = Promise.withResolvers<void>();
  const address = { host: '127.0.0.1', port, secret: 's' };
  const up = Promise.withResolvers<string[]>();
  const connection = openSrf(
    address,
    () => request.resolve(),
    up.resolve,
    () => {},
  );
  const socket = await application;
  expect(await up.promise).toEqual(['tls/192.0.2.1:5061']);
  const cut = frame('y|response|unknown|OK|and more');
  const line = 'z|sip|network|1|tls|192.0.2.2|5061|00:00:00.000000|transaction||192.0.2.1|5061|';
  socket.write(frame(`${line}\r\n${options}`) + cut.slice(0, 12));
  await request.promise;
  connection.close();
  await once(socket, 'end');
  socket.end(cut.slice(12));
  await once(socket, 'close');
});

it('sends the routes once the engine has accepted the secret', async () => {
  const { port, application } = await engine();
  const connection = openSrf(
    { host: '127.0.0.1', port, secret: 's' },
    () => {},
    () => {},
    () => {},
  );
  const socket = await application;
  let text = '';
  while (!text.includes('|route|update')) text += String((await once(socket, 'data'))[0]);
  for (const method of ['invite', 'options', 'register', 'refer', 'message']) {
    expect(text.split(`|route|${method}`)).toHaveLength(2);
  }
  connection.close();
  socket.destroy();
});
