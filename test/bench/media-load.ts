/**
 * The far end of the media benchmark, in a process of its own: `calls` SRTP endpoints that send 50 packets a
 * second each and measure what comes back. Talks to its parent in messages; see `ToLoad` and `FromLoad`.
 */
import { SrtpPeer } from '../fakes/srtp-peer.ts';

export type ToLoad =
  | { readonly type: 'open'; readonly calls: number }
  | { readonly type: 'start'; readonly answers: readonly string[] }
  | { readonly type: 'measure' }
  | { readonly type: 'stop' };

export type FromLoad =
  | { readonly type: 'offers'; readonly offers: readonly string[] }
  | { readonly type: 'result'; readonly result: LoadResult };

export interface LoadResult {
  readonly sent: number;
  readonly received: number;
  readonly lost: number;
  readonly undecryptable: number;
  /** Mean over the calls, RFC 3550. */
  readonly jitterMs: number;
  /** How late packets came against the fastest of their call: the worst call's 99th percentile. */
  readonly latenessP99Ms: number;
  readonly latenessP99MeanMs: number;
  /** Of this process, seconds. */
  readonly cpuSeconds: number;
}

/** Granularity of sending: each pass sends for the endpoints that are due. */
const passMs = 2;
const intervalMs = 20;

let peers: SrtpPeer[] = [];
let timer: NodeJS.Timeout | null = null;
let cpuAtMeasure = process.cpuUsage();

process.on('message', (message: ToLoad) => {
  if (message.type === 'open') void open(message.calls);
  else if (message.type === 'start') start(message.answers);
  else if (message.type === 'measure') measure();
  else stop();
});

async function open(calls: number): Promise<void> {
  peers = [];
  for (let i = 0; i < calls; i++) peers.push(await SrtpPeer.open({ record: false }));
  tell({ type: 'offers', offers: peers.map((peer) => peer.sdp()) });
}

function start(answers: readonly string[]): void {
  answers.forEach((answer, i) => {
    peers[i]?.connect(answer);
  });
  const frame = peers[0]?.toneFrames(500, 1)[0] ?? Buffer.alloc(160);
  const began = performance.now();
  const sent = peers.map(() => 0);
  timer = setInterval(() => {
    const elapsed = performance.now() - began;
    for (const [i, peer] of peers.entries()) {
      const due = (elapsed - (i * intervalMs) / peers.length) / intervalMs;
      for (let count = sent[i] ?? 0; count < due; count++) {
        peer.send(frame);
        sent[i] = count + 1;
      }
    }
  }, passMs);
}

function measure(): void {
  for (const peer of peers) peer.resetStats();
  cpuAtMeasure = process.cpuUsage();
}

function stop(): void {
  if (timer) clearInterval(timer);
  const stats = peers.map((peer) => peer.stats);
  const sum = (pick: (stat: (typeof stats)[number]) => number) =>
    stats.reduce((total, stat) => total + pick(stat), 0);
  const cpu = process.cpuUsage(cpuAtMeasure);
  const result: LoadResult = {
    sent: peers.reduce((total, peer) => total + peer.sent, 0),
    received: sum((stat) => stat.packets),
    lost: sum((stat) => stat.lost),
    undecryptable: sum((stat) => stat.undecryptable),
    jitterMs: sum((stat) => stat.jitterMs) / peers.length,
    latenessP99Ms: Math.max(...stats.map((stat) => stat.latenessP99Ms)),
    latenessP99MeanMs: sum((stat) => stat.latenessP99Ms) / peers.length,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
  for (const peer of peers) peer.close();
  tell({ type: 'result', result });
  process.disconnect();
}

function tell(message: FromLoad): void {
  process.send?.(message);
}
