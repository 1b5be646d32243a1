/**
 * How long a BYE of a standing call waits for its answer while 1,000 peers connect within a second, with full TLS handshakes
 * or with resumed sessions, and while they all end at once: `node test/bench/tls-storm.ts`. The peers are another process; the engine admits all of them,
 * although its limits would refuse some of so many.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'node:tls';
import { nodeFlags } from '../../scripts/supervisor/node-flags.ts';
import { createAuthority } from '../kit/fakes/certificates.ts';
import { SipCaller, sipRequest, toTagOf } from '../kit/fakes/sip-caller.ts';
import { cpuMs } from './cpu-time.ts';
import type { Order, Said } from './signaling-app.ts';

type Kind = 'none' | 'full' | 'resumed';

interface StormOrder {
  readonly kind: Kind;
  readonly port: number;
  readonly ca: string;
  readonly connections: number;
}

/** What the peers say: all are connected, then that all have closed. */
type Phase =
  | { readonly type: 'connected'; readonly ms: number; readonly failed: number }
  | { readonly type: 'closed' };

const connections = 1000;
/** Between the last connection and the end of all, and after that, ms */
const restMs = 500;
/** Pause between two BYEs, ms */
const everyMs = 10;

/** The peers. */
async function storm(
  { kind, port, ca, connections }: StormOrder,
  tell: (phase: Phase) => void,
): Promise<void> {
  const one = { host: '127.0.0.1', port, ca };
  const known = connect(one);
  const session = kind === 'full' ? undefined : await once(known, 'session').then(([ticket]) => ticket);
  const sockets = [known];
  let failed = 0;
  const began = performance.now();
  const open = async (index: number) => {
    await pause((index * 1000) / connections);
    const socket = connect({ ...one, ...(session && { session }) });
    sockets.push(socket);
    await once(socket, 'secureConnect').catch(() => failed++);
    if (kind === 'resumed' && !socket.isSessionReused()) failed++;
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => open(index)));
  tell({ type: 'connected', ms: performance.now() - began, failed });
  await pause(restMs);
  for (const socket of sockets) socket.destroy();
  await pause(restMs);
  tell({ type: 'closed' });
}

async function measure(kind: Kind, order: Order, ca: string): Promise<string> {
  const app = fork(join(import.meta.dirname, 'signaling-app.ts'), { execArgv: [...nodeFlags.edge] });
  const said = async (type: Said['type']): Promise<Said> => {
    for (;;) {
      const [message] = (await once(app, 'message')) as [Said];
      if (message.type === type) return message;
    }
  };
  app.send(order);
  const ready = await said('ready');
  const enginePid = ready.type === 'ready' ? ready.enginePid : 0;
  const caller = await SipCaller.connect(order.port, ca);
  const standing: { readonly callId: string; readonly toTag: string | undefined }[] = [];
  for (let call = 0; call < 600; call++) {
    const callId = `standing-${call}`;
    caller.send(sipRequest('INVITE', { callId, body: 'v=0\r\n' }));
    const toTag = toTagOf(await caller.final());
    caller.send(sipRequest('ACK', { callId, toTag }));
    standing.push({ callId, toTag });
  }
  const before = cpuMs(enginePid);
  const waited = () => Number(readFileSync(`/proc/${enginePid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  const waitedBefore = waited();
  const peers = kind === 'none' ? null : fork(import.meta.filename, ['peers']);
  peers?.send({ kind, port: order.port, ca, connections } satisfies StormOrder);
  const waits: Record<'connecting' | 'ending', number[]> = { connecting: [], ending: [] };
  let phase: keyof typeof waits | null = 'connecting';
  let result = '';
  const over = new Promise<void>((resolve) => {
    if (!peers) setTimeout(resolve, 2000);
    peers?.on('message', (said: Phase) => {
      if (said.type === 'closed') return resolve();
      phase = 'ending';
      result = `, connected in ${said.ms.toFixed(0)} ms, ${said.failed} failed`;
    });
  }).then(() => {
    phase = null;
  });
  for (const { callId, toTag } of standing) {
    if (phase === null) break;
    const during: number[] = waits[phase];
    const began = performance.now();
    caller.send(sipRequest('BYE', { callId, cseq: 2, toTag }));
    await caller.final();
    during.push(performance.now() - began);
    await pause(everyMs);
  }
  await over;
  const used = cpuMs(enginePid) - before;
  const delay = (waited() - waitedBefore).toFixed(0);
  caller.close();
  app.send('stop');
  await said('done');
  const ends = waits.ending.length > 0 ? `; all end: ${summary(waits.ending)}` : '';
  return `${kind}: ${summary(waits.connecting)}${ends}; engine ${used} ms CPU, waited for a core ${delay} ms${result}`;
}

function summary(waits: readonly number[]): string {
  const sorted = waits.toSorted((one, other) => one - other);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  return `${waits.length} BYEs, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-storm-'));
  try {
    const authority = createAuthority();
    const pair = authority.issue({ names: ['IP:127.0.0.1'] });
    const [cert, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
    writeFileSync(cert, pair.cert);
    writeFileSync(key, pair.key);
    for (const kind of ['none', 'full', 'resumed'] as const) {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      server.close();
      const order: Order = {
        ...{ mode: 'bare', port, cert, key, dataDir: join(folder, kind), controlUrl: '', drachtio: null },
        limits: { handshakesPerSecond: 100_000, maxConnectionsPerAddress: 10_000 },
      };
      console.log(await measure(kind, order, authority.cert));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[2] === 'peers')
  process.once('message', async (order: StormOrder) => {
    // In the field they are other machines: they take what engine, application and caller leave of the cores.
    setPriority(constants.priority.PRIORITY_LOW);
    await storm(order, (phase) => process.send?.(phase));
    process.disconnect();
  });
else if (import.meta.main) await main();
