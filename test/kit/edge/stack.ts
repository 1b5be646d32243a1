/** The engine in one process, on a clock that the test advances, with a peer and an application. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { parseConfiguration, stackOptions } from '../../../edge/engine/configuration.ts';
import type { SipMessage, SipRequest, SipResponse } from '../../../edge/engine/message/message.ts';
import { Stack, type StackAddresses } from '../../../edge/engine/stack.ts';
import { releaseAll } from '../fakes/release.ts';
import { engineConfiguration, TestCertificates } from './engine.ts';
import { RawApp } from './raw-app.ts';
import { TestPeer } from './sip-peer.ts';

export const SDP = 'v=0\r\n';
export function response(message: SipMessage): SipResponse {
  if (message.kind !== 'response') throw new Error(`a ${message.method} came instead of a response`);
  return message;
}

export function requestOf(message: SipMessage): SipRequest {
  if (message.kind !== 'request') throw new Error(`a ${message.status} came instead of a request`);
  return message;
}

/** Starts an engine for each test. At its end the engine must not have logged an error. */
export function stackScene() {
  let certificates: TestCertificates;
  let clock: FakeClock;
  let stack: Stack;
  let addresses: StackAddresses;
  let app: RawApp;
  let peer: TestPeer;
  const logged: string[] = [];
  const warned: string[] = [];
  const refused: Record<string, number>[] = [];
  beforeAll(() => {
    certificates = new TestCertificates();
  });

  afterAll(() => certificates.remove());
  beforeEach(async () => {
    clock = new FakeClock();
    logged.length = 0;
    warned.length = 0;
    refused.length = 0;
    const limits = { maxFrameBytes: 4_000, requestsPerSecond: 50, maxMessageBytes: 100_000, maxHeaders: 40 };
    const configuration = JSON.stringify({ ...engineConfiguration(certificates), limits });
    stack = new Stack(
      stackOptions(parseConfiguration(configuration)),
      clock,
      (level, message) => {
        if (level === 'error') logged.push(message);
        if (level === 'warn') warned.push(message);
      },
      (sources) => refused.push(sources),
    );
    addresses = await stack.listen();
    app = await RawApp.routing(addresses.app.port, 'invite', 'options');
    peer = await TestPeer.connect(addresses.tls.port, certificates.ca);
  });

  afterEach(() =>
    releaseAll(
      () => peer.close(),
      () => app.close(),
      () => stack.close(),
      () => expect(logged).toEqual([]),
    ),
  );

  let branches = 0;
  /** A request as the peer writes it. */
  function lines(method: string, cseq: number, changes: Readonly<Record<string, string>> = {}): string[] {
    const fields: Record<string, string> = {
      Via: `SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bK-${++branches}`,
      From: '<sip:a@127.0.0.1>;tag=a',
      To: '<sip:b@127.0.0.1>',
      'Call-ID': 'c',
      CSeq: `${cseq} ${method}`,
      Contact: '<sip:a@127.0.0.1:9;transport=tls>',
      ...changes,
    };
    return [
      `${method} sip:b@127.0.0.1 SIP/2.0`,
      ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    ];
  }

  /** A call that the application has answered and the peer has not acknowledged. */
  async function answered(): Promise<{
    to: string;
    dialogId: string;
    transactionId: string;
    echo: readonly string[];
  }> {
    peer.send(lines('INVITE', 1), SDP);
    const { tokens } = await app.next();
    const transactionId = tokens[8] ?? '';
    const echo = await app.ask(`sip|${transactionId}|`, ['SIP/2.0 200 OK'], SDP);
    const ok = response(await peer.next());
    expect(ok.status).toBe(200);
    return { to: ok.headers.get('to') ?? '', dialogId: echo[8] ?? '', transactionId, echo };
  }

  return {
    get certificates() {
      return certificates;
    },
    get clock() {
      return clock;
    },
    get stack() {
      return stack;
    },
    get addresses() {
      return addresses;
    },
    get app() {
      return app;
    },
    get peer() {
      return peer;
    },
    warned,
    refused,
    get branches() {
      return branches;
    },
    lines,
    answered,
  };
}
