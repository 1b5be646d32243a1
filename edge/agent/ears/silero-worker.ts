/** The thread that runs Silero: a run blocks its thread, so it has one of its own for all calls. */
import { parentPort } from 'node:worker_threads';
import { besideAudio, leaveRealTime } from '#shared/audio-priority.ts';
import { chunkSamples, type FromSilero, type ToSilero } from './silero-messages.ts';
import { SileroModel } from './silero-model.ts';

const port = parentPort;
if (!port) throw new Error('silero-worker runs in a worker thread');
// It inherits the shard's priority, and computes longer than a frame may wait.
leaveRealTime();
const model = await SileroModel.load();

/** Chunks of one stream follow each other, so each round takes the next one of every stream. */
async function judge(streams: readonly number[], samples: Float32Array): Promise<Float32Array> {
  const probabilities = new Float32Array(streams.length);
  let left = streams.map((stream, i) => ({ stream, i }));
  while (left.length > 0) {
    const taken = new Set<number>();
    const later: typeof left = [];
    const now = left.filter((chunk) => {
      const first = !taken.has(chunk.stream);
      if (first) taken.add(chunk.stream);
      else later.push(chunk);
      return first;
    });
    const places = now.map(({ i }) => i * chunkSamples);
    const found = await model.judge(
      now.map(({ stream }) => stream),
      samples,
      places,
    );
    for (const [k, { i }] of now.entries()) probabilities[i] = found[k] ?? 0;
    left = later;
  }
  return probabilities;
}

const tell = (message: FromSilero) => besideAudio(() => port.postMessage(message));
let tail: Promise<void> = Promise.resolve();
port.on('message', (message: ToSilero) => {
  // A batch that fails ends the thread, and the owner goes on without it.
  tail = tail.then(async () => {
    if (message.type !== 'judge') return model.forget(message.stream);
    const { batch, streams, samples } = message;
    tell({ type: 'judged', batch, probabilities: await judge(streams, samples) });
  });
});
tell({ type: 'ready' });
