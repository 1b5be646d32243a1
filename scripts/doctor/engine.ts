/** The SIP engine: whether it can be reached, and whether it has the certificate of the file. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { EdgeSettings } from '../../edge/config.ts';
import { ownTarget } from '../../edge/own-address.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import type { Place } from './place.ts';
import { reasonOf } from './reason.ts';
import { tcpListeners } from './sockets.ts';
import { ofEdge } from './with-settings.ts';

const answerMs = 5000;

async function engine(settings: EdgeSettings, place: Place): Promise<Finding> {
  const { drachtio, sip } = settings;
  if (drachtio) return drachtioServer(drachtio);
  if (!tcpListeners(place).some(({ port }) => port === sip.port))
    return skipped(`nothing listens on ${sip.port}: the edge does not run`);
  return listener(settings);
}

async function drachtioServer({ host, port }: { host: string; port: number }): Promise<Finding> {
  const socket = connectTcp({ host, port, timeout: answerMs });
  try {
    await Promise.race([
      once(socket, 'connect'),
      once(socket, 'timeout').then(() => {
        throw new Error(`no answer within ${answerMs / 1000} s`);
      }),
    ]);
    return ok(`a drachtio-server listens at ${host}:${port}`);
  } catch (error) {
    return failed(
      `the drachtio-server at ${host}:${port}: ${reasonOf(error)}`,
      'start it, or correct DRACHTIO_HOST',
    );
  } finally {
    socket.destroy();
  }
}

async function listener({ sip, tls }: EdgeSettings): Promise<Finding> {
  const pem = readFileSync(tls.cert, 'utf8');
  const { host, address = host, port, serverName } = ownTarget(sip, sip.publicHost, pem);
  // Which certificate it has is the question, not whether we trust it.
  const socket = connectTls({
    host: address,
    port,
    ...(isIP(serverName) === 0 && { servername: serverName }),
    rejectUnauthorized: false,
    timeout: answerMs,
  });
  try {
    await Promise.race([
      once(socket, 'secureConnect'),
      once(socket, 'timeout').then(() => {
        throw new Error(`no TLS handshake within ${answerMs / 1000} s`);
      }),
    ]);
    const served = socket.getPeerX509Certificate();
    const protocol = socket.getProtocol();
    if (served?.fingerprint256 === new X509Certificate(pem).fingerprint256)
      return ok(
        `a TLS handshake with ${address}:${port} works (${protocol}), with the certificate of ${tls.cert}`,
      );
    return warning(
      `the engine at ${address}:${port} has another certificate than ${tls.cert}`,
      'send the edge SIGHUP, which loads new files: systemctl reload trunkline-edge',
    );
  } catch (error) {
    return failed(
      `no TLS handshake with ${address}:${port}: ${reasonOf(error)}`,
      'see the log of the edge; another program may have the port (ports.sip)',
    );
  } finally {
    socket.destroy();
  }
}

export const engineChecks: readonly Check[] = [
  {
    name: 'engine.listens',
    program: 'edge',
    about:
      'A TLS handshake with the engine works, and it has the certificate of the file; a drachtio-server can be reached.',
    bad: 'It cannot be reached (failed); it still has an earlier certificate (warning).',
    run: ofEdge(engine),
  },
];
