/** Connections to targets that peers have named, in Contact and Record-Route. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { response, SDP, stackScene } from '../../test/kit/edge/stack.ts';
import { DEFAULT_TRANSPORT_LIMITS } from './transport/limits.ts';

const scene = stackScene();
const { lines } = scene;

describe('connections to the Contacts of peers', () => {
  /** TLS servers of peers that answer every ping and no request. */
  const servers: Server[] = [];

  // Connections still open close with the stack.
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function contactOf(host: string): Promise<string> {
    const pair = { cert: readFileSync(scene.certificates.cert), key: readFileSync(scene.certificates.key) };
    const server = createServer(pair, (socket) => {
      socket.on('error', () => {});
      socket.on('data', (octets: Buffer) => {
        if (octets.toString() === '\r\n\r\n') socket.write('\r\n');
      });
    });
    servers.push(server);
    server.listen(0, host);
    await once(server, 'listening');
    const address = server.address();
    return `<sip:a@${host}:${typeof address === 'object' ? address?.port : 0};transport=tls>`;
  }

  /** Calls that are answered and never acknowledged, one for each Contact; then their connection closes. */
  async function abandonedCalls(contacts: readonly string[]): Promise<void> {
    for (const [i, contact] of contacts.entries()) {
      scene.peer.send(lines('INVITE', 1, { 'Call-ID': `call-${i}`, Contact: contact }), SDP);
      const { tokens } = await scene.app.next();
      expect((await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'], SDP))[0]).toBe('OK');
      // The peer may send 50 requests a second.
      if (i % 40 === 39) scene.clock.advance(1_000);
    }
    scene.peer.close();
  }

  const figure = (name: string) => expect.poll(() => scene.stack.metrics()[name]);

  /** Advances the clock second by second; peers have time to answer in each. */
  async function pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) {
      scene.clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('end a minute after the last message, even when the peers answer pings', async () => {
    await abandonedCalls(await Promise.all(Array.from({ length: 20 }, () => contactOf('127.0.0.1'))));
    await figure('transport_peer_places').toBe(20);
    // The ACKs do not arrive, then the BYEs are not answered.
    await pass(32 + 32 + 60);
    await figure('transport_outbound').toBe(0);
    expect(scene.stack.metrics()).toMatchObject({ transport_peer_places: 0, client_transactions: 0 });
  });

  it('are limited per network', async () => {
    const most = DEFAULT_TRANSPORT_LIMITS.peerTargetsPerNetwork;
    const contacts = await Promise.all(Array.from({ length: most + 20 }, () => contactOf('127.0.0.1')));
    await abandonedCalls(contacts);
    await figure('transport_connected').toBe(most);
    // A call whose peer cannot be called back has ended.
    await figure('dialogs').toBe(most);
    expect(scene.stack.metrics()).toMatchObject({ transport_outbound: most, transport_peer_places: most });
    expect(scene.stack.metrics().transport_peer_places_refused).toBeGreaterThanOrEqual(20);
  });
});

describe('targets that peers name in Record-Route', () => {
  let server: Server;
  let place: string;
  let connections: number;

  beforeEach(async () => {
    connections = 0;
    server = createServer({
      cert: readFileSync(scene.certificates.cert),
      key: readFileSync(scene.certificates.key),
    });
    server.on('connection', () => connections++);
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.9');
    await once(server, 'listening');
    const address = server.address();
    place = `127.0.0.9:${typeof address === 'object' ? address?.port : 0}`;
  });
  afterEach(() => void server.close());

  /** Status and Warning of the BYE of a call whose connection is gone. */
  async function byeOf(route: string): Promise<string> {
    const fields = { 'Record-Route': `<sip:${route};transport=tls;lr>` };
    scene.peer.send(lines('INVITE', 1, fields), SDP);
    const { tokens } = await scene.app.next();
    const echo = await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'], SDP);
    const to = response(await scene.peer.next()).headers.get('to') ?? '';
    scene.peer.send(lines('ACK', 1, { To: to }));
    await scene.app.next();
    scene.peer.close();
    await expect.poll(() => scene.stack.metrics().transport_inbound).toBe(0);
    expect((await scene.app.ask(`sip||${echo[8]}`, ['BYE sip:placeholder SIP/2.0']))[0]).toBe('OK');
    return (await scene.app.next()).sip.toString();
  }

  it('are not contacted when they are private and not the peer itself, and the dialog ends', async () => {
    const outcome = await byeOf(place);
    expect(outcome).toMatch(/^SIP\/2\.0 503 /);
    expect(outcome).toMatch(/^Warning: .*loopback address.*ALLOW_PRIVATE_TARGETS/m);
    expect(connections).toBe(0);
    expect(scene.stack.metrics()).toMatchObject({
      dialogs: 0,
      transport_peer_places: 0,
      transport_peer_places_not_allowed: 1,
    });
  });

  it('are contacted when the operator allows their network', async () => {
    scene.stack.setAllowedTargets(parseNetworks(['127.0.0.0/29', '127.0.0.9']));
    expect(await byeOf(place)).toMatch(/^SIP\/2\.0 503 /);
    expect(connections).toBe(1);
    expect(scene.stack.metrics()).toMatchObject({ dialogs: 0, transport_peer_places_not_allowed: 0 });
  });
});
