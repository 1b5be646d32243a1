/**
 * The far end of the media benchmark, in a separate process: `calls` SRTP endpoints that send 50 packets a second each
 * and measure the returned audio. Exchanges messages with its parent; see `ToLoad` and `FromLoad`.
 */
import { createCodec } from '../../edge/media/codec/codecs.ts';
import { tone } from '../kit/fakes/audio.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';

export type ToLoad =
  | { readonly type: 'open'; readonly calls: number; readonly codecs: readonly LoadCodec[] }
  | { readonly type: 'start'; readonly answers: readonly string[] }
  | { readonly type: 'measure' }
  | { readonly type: 'stop' };

export type FromLoad =
  | { readonly type: 'offers'; readonly offers: readonly string[] }
  | { readonly type: 'result'; readonly result: LoadResult };

export type LoadCodec = keyof typeof formats;

/** Payload type, description and 20 ms in ticks of an endpoint's codec. */
const formats = {
  PCMU: { payloadType: 0, rtpmap: 'PCMU/8000', samples: 160 },
  PCMA: { payloadType: 8, rtpmap: 'PCMA/8000', samples: 160 },
  'G.722': { payloadType: 9, rtpmap: 'G722/8000', samples: 160 },
  Opus: { payloadType: 107, rtpmap: 'opus/48000/2', samples: 960 },
} as const;

export interface LoadResult {
  readonly sent: number;
  readonly received: number;
  readonly lost: number;
  readonly undecryptable: number;
  /** Mean over the calls, RFC 3550. */
  readonly jitterMs: number;
  /** Delay of packets against the fastest of their call: the worst call's 99th percentile, and means over the calls. */
  readonly latenessP99Ms: number;
  readonly latenessP99MeanMs: number;
  readonly latenessP50MeanMs: number;
  /** Of this process, seconds. */
  readonly cpuSeconds: number;
}

/** Granularity of sending: each pass sends for the endpoints that are due. */
const passMs = 2;
const intervalMs = 20;

let peers: { readonly end: SrtpPeer; readonly codec: LoadCodec }[] = [];
let timer: NodeJS.Timeout | null = null;
let cpuAtMeasure = process.cpuUsage();

process.on('message', (message: ToLoad) => {
  if (message.type === 'open') void open(message.calls, message.codecs);
  else if (message.type === 'start') start(message.answers);
  else if (message.type === 'measure') measure();
  else stop();
});

/** The endpoints use `codecs` in turn. */
async function open(calls: number, codecs: readonly LoadCodec[]): Promise<void> {
  peers = [];
  for (let i = 0; i < calls; i++) {
    const codec = codecs[i % codecs.length] ?? 'PCMU';
    const clockRate = formats[codec].samples * 50;
    peers.push({ end: await SrtpPeer.open({ record: false, clockRate }), codec });
  }
  tell({ type: 'offers', offers: peers.map(({ end, codec }) => offerOf(end, codec)) });
}

function offerOf(end: SrtpPeer, codec: LoadCodec): string {
  const { payloadType, rtpmap } = formats[codec];
  const rtpmaps = [`${payloadType} ${rtpmap}`, '101 telephone-event/8000'];
  return end.sdp({ formats: `${payloadType} 101`, rtpmaps });
}

/** One second of a tone. */
function speechIn(codec: LoadCodec): Buffer[] {
  const encoder = createCodec(codec, 8000);
  const samples = tone(500, 8000);
  const out = new Uint8Array(1400);
  const frames = Array.from({ length: 50 }, (_, i) => {
    const length = encoder.encode(samples.subarray(i * 160, (i + 1) * 160), out);
    return Buffer.from(out.subarray(0, length));
  });
  encoder.close();
  return frames;
}

function start(answers: readonly string[]): void {
  answers.forEach((answer, i) => {
    peers[i]?.end.connect(answer);
  });
  const codecs = new Set(peers.map(({ codec }) => codec));
  const speech = new Map([...codecs].map((codec) => [codec, speechIn(codec)]));
  const began = performance.now();
  const sent = peers.map(() => 0);
  timer = setInterval(() => {
    const elapsed = performance.now() - began;
    for (const [i, { end, codec }] of peers.entries()) {
      const frames = speech.get(codec) ?? [];
      const due = (elapsed - (i * intervalMs) / peers.length) / intervalMs;
      for (let count = sent[i] ?? 0; count < due; count++) {
        end.send(frames[count % 50] ?? Buffer.alloc(0), formats[codec]);
        sent[i] = count + 1;
      }
    }
  }, passMs);
}

function measure(): void {
  for (const { end } of peers) end.resetStats();
  cpuAtMeasure = process.cpuUsage();
}

function stop(): void {
  if (timer) clearInterval(timer);
  const stats = peers.map(({ end }) => end.stats);
  const sum = (pick: (stat: (typeof stats)[number]) => number) =>
    stats.reduce((total, stat) => total + pick(stat), 0);
  const cpu = process.cpuUsage(cpuAtMeasure);
  const result: LoadResult = {
    sent: peers.reduce((total, { end }) => total + end.sent, 0),
    received: sum((stat) => stat.packets),
    lost: sum((stat) => stat.lost),
    undecryptable: sum((stat) => stat.undecryptable),
    jitterMs: sum((stat) => stat.jitterMs) / peers.length,
    latenessP99Ms: Math.max(...stats.map((stat) => stat.latenessP99Ms)),
    latenessP99MeanMs: sum((stat) => stat.latenessP99Ms) / peers.length,
    latenessP50MeanMs: sum((stat) => stat.latenessP50Ms) / peers.length,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
  };
  for (const { end } of peers) end.close();
  tell({ type: 'result', result });
  process.disconnect();
}

function tell(message: FromLoad): void {
  process.send?.(message);
}
