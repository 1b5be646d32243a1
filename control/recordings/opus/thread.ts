/** The program of the thread that encodes recordings: one piece of one recording at a time. */
import { randomInt } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { OggOpus } from './encoder.ts';
import type { FromOpusThread, ToOpusThread } from './thread-messages.ts';

const streams = new Map<number, OggOpus>();

parentPort?.on('message', (message: ToOpusThread) => {
  const { stream } = message;
  if (message.type === 'drop') {
    drop(stream);
    return;
  }
  try {
    const ogg = new Uint8Array(
      message.type === 'push' ? opened(stream).push(message.pcm) : opened(stream).end(),
    );
    if (message.type === 'end') drop(stream);
    answer({ stream, result: { ogg } }, [ogg.buffer]);
  } catch (error) {
    drop(stream);
    answer({ stream, result: { error: error instanceof Error ? error.message : String(error) } });
  }
});

function opened(stream: number): OggOpus {
  const found = streams.get(stream) ?? new OggOpus(randomInt(2 ** 32));
  streams.set(stream, found);
  return found;
}

function drop(stream: number): void {
  streams.get(stream)?.close();
  streams.delete(stream);
}

function answer(message: FromOpusThread, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
