/**
 * A transcription server for tests, over real HTTP. It knows some sentences by their duration, and answers with the one
 * of the nearest duration.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Flite } from '#shared/models/flite.ts';
import { readWav } from '#shared/models/wav.ts';

const audible = 300;

/** ms from the first to the last audible sample. */
function soundsFor(samples: Int16Array, sampleRate: number): number {
  const isAudible = (sample: number) => Math.abs(sample) > audible;
  const first = samples.findIndex(isAudible);
  return first < 0 ? 0 : ((samples.findLastIndex(isAudible) - first) * 1000) / sampleRate;
}

export class TranscriptionServer {
  readonly heard: string[] = [];
  readonly #lengths = new Map<string, number>();
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { samples, sampleRate } = readWav(body.subarray(body.indexOf('RIFF')));
      const text = this.#nearest(soundsFor(samples, sampleRate));
      this.heard.push(text);
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ text }));
    });
  });

  /** @param sentences of clearly different lengths, spoken by the embedded voice */
  static async start(sentences: readonly string[]): Promise<TranscriptionServer> {
    const server = new TranscriptionServer();
    const flite = new Flite();
    for (const text of sentences) {
      const samples = await flite.synthesize(text, { voice: null, language: 'en-US', sampleRate: 8000 });
      server.#lengths.set(text, soundsFor(samples, 8000));
    }
    await flite.close();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #nearest(ms: number): string {
    const far = ([, length]: readonly [string, number]) => Math.abs(length - ms);
    if (ms === 0) return '';
    return [...this.#lengths].sort((a, b) => far(a) - far(b))[0]?.[0] ?? '';
  }
}
