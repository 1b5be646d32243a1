/**
 * What the suites of sipp, peers and system cannot do on a drachtio-server, and why. Each reason is a row of the table
 * in docs/engines.md. On that engine these tests are skipped, and say their reason; `test/engine-differences.test.ts`
 * checks that each entry names a test.
 */
import { relative, resolve } from 'node:path';
import { beforeEach } from 'vitest';
import { drachtioPath } from './drachtio-program.ts';

export interface EngineDifference {
  /** The row of docs/engines.md. */
  readonly row: string;
  /** By test file, beginnings of its tests' names; empty: all of them. */
  readonly tests: Readonly<Record<string, readonly string[]>>;
}

const root = resolve(import.meta.dirname, '..', '..', '..');

export const engineDifferences: readonly EngineDifference[] = [
  {
    row: 'a call of the edge to itself (agent tests over a call)',
    tests: {
      'test/system/agent-test-call.test.ts': [],
      'test/system/agent-test-figures.test.ts': [],
      'test/system/agent-test-persona.test.ts': [],
      'test/system/agent-test-room.test.ts': [],
      'test/system/agent-test-spoken.test.ts': [],
    },
  },
  {
    row: 'a BYE from the caller before the answer',
    tests: {
      'edge/signaling/engines.test.ts': ['is ended by a BYE in its early dialog'],
      'test/sipp/scenarios.test.ts': ['a caller who ends the early dialog with BYE leaves a canceled call'],
    },
  },
  {
    row: 'SIP over WebSocket ([phone.md](phone.md))',
    tests: {
      'test/system/websocket.test.ts': [
        'a browser calls with a phone session',
        'the console calls agents',
        'a supervisor in the console hears both parties apart',
        'visitors call the agent of a widget',
      ],
    },
  },
  {
    row: 'a WebSocket without the subprotocol `sip`',
    tests: { 'test/system/websocket.test.ts': ['a WebSocket without the SIP subprotocol is rejected'] },
  },
  {
    row: 'why a peer cannot be reached',
    tests: {
      'test/sipp/failover.test.ts': ['connection refused: the call fails over'],
      'test/peers/kamailio.test.ts': ['an unreachable PBX is reported as a failed registration'],
      'test/system/test-call.test.ts': ['tries a dead endpoint first, although it is known to be dead'],
      'test/system/trunk-targets.test.ts': [
        'after a dead target the call tries the other one of its priority',
        'with both dead, the next priority gets the call',
        'with all targets dead, the call uses the failover endpoint',
      ],
    },
  },
  {
    row: 'a peer whose TLS fails',
    tests: {
      'test/system/failover-restart.test.ts': ['an endpoint that accepts TCP but no TLS handshake'],
    },
  },
  {
    row: '`TLS_CA`, client certificates',
    tests: {
      'test/system/trunk-health.test.ts': [
        'is unreachable without one, and the call log says why',
        'is reachable after SIGHUP has loaded one',
        'stays reachable when a later pair is unusable',
      ],
      'test/system/outbound.test.ts': ['to a peer with an untrusted certificate fails'],
      'test/system/test-call.test.ts': ['ends at a certificate that is'],
    },
  },
  {
    row: 'a Replaces with characters that no tag may have',
    tests: {
      'test/system/transfer-ends.test.ts': ["a peer's attended REFER takes over its dialog with the target"],
    },
  },
  {
    row: '100 Trying',
    tests: {
      'test/system/test-call-media.test.ts': ['are proven by a far end that echoes tone and keys'],
    },
  },
  {
    row: '[limits of SIP connections and messages](limits.md#sip-connections-and-messages)',
    tests: {
      'test/system/abuse.test.ts': [
        'closes a connection that sends garbage inside TLS',
        'closes a connection whose message is incomplete at the time limit',
        'rejects more headers than its limit',
        'rejects a body beyond its limit without waiting for it',
        'answers a message followed by garbage, then closes the connection',
      ],
    },
  },
];

/** Whether a test is listed. @param file relative to the root */
export function differenceOf(file: string, name: string): EngineDifference | null {
  return (
    engineDifferences.find(({ tests }) => {
      const names = tests[file];
      return names !== undefined && (names.length === 0 || names.some((begin) => name.startsWith(begin)));
    }) ?? null
  );
}

if (drachtioPath() !== null) {
  beforeEach(({ task, skip }) => {
    const found = differenceOf(relative(root, task.file.filepath), task.name);
    if (found) skip(`on a drachtio-server: ${found.row} (docs/engines.md)`);
  });
}
