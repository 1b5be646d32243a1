/** Speech servers that answer with something else than sound. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { OpenAiTextToSpeech } from './openai-speech.ts';

const english = { voice: null, language: 'en-US', sampleRate: 8000 } as const;

it.each(['application/json', 'text/html; charset=utf-8'])('%s is not played as sound', async (type) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': type }).end('quota exceeded '.repeat(1000));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tts = new OpenAiTextToSpeech({ baseUrl, apiKey: null, model: 'tts-1' }, { voice: 'alloy' });
  const streamed = async () => {
    for await (const piece of tts.stream('Hi', english, new AbortController().signal)) void piece;
  };
  for (const spoken of [streamed(), tts.synthesize('Hi', english)])
    await expect(spoken).rejects.toThrow(`${type} in place of sound: quota exceeded`);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
