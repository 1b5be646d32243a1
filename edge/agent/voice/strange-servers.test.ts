/** Servers of voices that differ from what is published: what callers hear is the sound of the text, and nothing else. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { fields, LabServer, type LabSession, type LabSocket } from '../../../test/kit/speech/lab-server.ts';
import { deepgramSpeak } from './deepgram-speak.ts';
import { elevenLabs } from './elevenlabs.ts';
import { SocketVoice } from './socket-voice.ts';
import type { VoiceProtocol } from './voice-connection.ts';

/** Says by order of the test what the real server would say after a whole text. */
class OddServer extends LabServer {
  protected readonly path: string;
  socket: LabSocket | null = null;
  readonly #answer: (socket: LabSocket, text: number) => void;
  #texts = 0;

  constructor(path: string, answer: (socket: LabSocket, text: number) => void) {
    super();
    this.path = path;
    this.#answer = answer;
  }

  protected check() {
    return null;
  }

  protected begin(socket: LabSocket): LabSession {
    this.socket = socket;
    return {
      text: (message) => {
        const { type, text } = fields(message);
        if (type === 'Flush' || text === '') this.#answer(socket, this.#texts++);
      },
      binary: () => undefined,
      closed: () => undefined,
    };
  }
}

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

const options = { voice: null, language: 'en-US', sampleRate: 8000 } as const;
/** 100 samples with this value. */
const sound = (value: number) => Buffer.from(new Int16Array(100).fill(value).buffer);
const samples = (...values: number[]) => values.flatMap((value) => Array<number>(100).fill(value));

async function voiceAt(server: OddServer, protocol: VoiceProtocol, path: string) {
  const clock = new FakeClock();
  const { url: at } = await server.listen();
  const url = new URL(path, at);
  const voice = new SocketVoice(protocol, { url, apiKey: null, model: 'm' }, { clock });
  open.push(server, voice);
  return { clock, voice };
}

describe.each([
  ['an MP3', Buffer.from('ID3\x04')],
  ['an MP3 without tags', Buffer.from([0xff, 0xfb, 0x90, 0x64])],
  ['an Ogg', Buffer.from('OggS')],
  ['a WAV', Buffer.from('RIFF')],
])('%s file in place of samples', (_, head) => {
  const pieces = [head.subarray(0, 3), head.subarray(3), Buffer.alloc(4000, 0xa5)];

  it('is not played as noise', async () => {
    const eleven = new OddServer('/v1/text-to-speech/ada/stream-input', (socket) => {
      for (const piece of pieces) socket.send({ audio: piece.toString('base64') });
      socket.send({ isFinal: true });
    });
    const deepgram = new OddServer('/v1/speak', (socket) => {
      for (const piece of pieces) socket.sendBinary(piece);
      socket.send({ type: 'Flushed' });
    });
    const voices = [
      await voiceAt(eleven, elevenLabs('ada'), '/v1/text-to-speech'),
      await voiceAt(deepgram, deepgramSpeak('ada'), '/v1/speak'),
    ];
    for (const { voice } of voices)
      await expect(voice.synthesize('Hello', options)).rejects.toThrow(/ in place of 16-bit PCM$/);
    await expect.poll(() => eleven.open + deepgram.open).toBe(0);
  });
});

it('sound that is far too long for the text is not kept, of a text that is spoken ahead either', async () => {
  const server = new OddServer('/v1/speak', (socket) => {
    for (let second = 0; second < 13; second++) socket.sendBinary(Buffer.alloc(16_000));
    socket.send({ type: 'Flushed' });
  });
  const { voice } = await voiceAt(server, deepgramSpeak('ada'), '/v1/speak');
  await expect(voice.synthesize('Hello', options)).rejects.toThrow('5 characters took more than 12.5 s');
  await expect.poll(() => server.open).toBe(0);
});

describe('ElevenLabs', () => {
  const speaks = async (answer: (socket: LabSocket) => void) => {
    const server = new OddServer('/v1/text-to-speech/ada/stream-input', answer);
    const { voice } = await voiceAt(server, elevenLabs('ada'), '/v1/text-to-speech');
    return voice.synthesize('Hello', options).then(
      (heard) => [...heard],
      (error: Error) => error.message,
    );
  };
  const audio = (value: number, more: object = {}) => ({
    audio: sound(value).toString('base64'),
    isFinal: null,
    alignment: null,
    ...more,
  });

  it('is heard to the end when its last message has sound', async () => {
    const heard = await speaks((socket) => {
      socket.send(audio(1));
      socket.send(audio(2, { isFinal: true }));
    });
    expect(heard).toEqual(samples(1, 2));
  });

  it('has spoken the whole text when it closes the connection without a fault', async () => {
    const heard = await speaks((socket) => {
      socket.send(audio(1));
      socket.close(1000);
    });
    expect(heard).toEqual(samples(1));
  });

  it.each([
    ['without sound', [], 1000, 'closed the connection (1000)'],
    ['with a fault', [audio(1)], 1011, 'closed the connection (1011)'],
  ])('has failed when it closes the connection %s', async (_, messages, code, why) => {
    const heard = await speaks((socket) => {
      for (const message of messages) socket.send(message);
      socket.close(code);
    });
    expect(heard).toContain(why);
  });

  it.each([
    ['a foreign character in it', (text: string) => `${text.slice(0, 9)}!${text.slice(10)}`],
    ['its end cut off', (text: string) => text.replace(/=+$/, '').slice(0, -2)],
  ])('is not heard as noise: sound with %s ends the text', async (_, broken) => {
    const heard = await speaks((socket) => {
      socket.send(audio(1));
      socket.send({ audio: broken(sound(2).toString('base64')) });
      socket.send(audio(3));
      socket.send({ isFinal: true });
    });
    expect(heard).toContain('sent sound that is not base64');
  });

  it('is understood when fields of an error are null', async () => {
    const heard = await speaks((socket) =>
      socket.send({ message: null, error: 'quota_exceeded', code: null }),
    );
    expect(heard).toContain('quota_exceeded');
  });
});

describe('Deepgram', () => {
  async function setUp(answer: (socket: LabSocket, text: number) => void) {
    const server = new OddServer('/v1/speak', answer);
    return { server, ...(await voiceAt(server, deepgramSpeak('ada'), '/v1/speak')) };
  }
  const flushed = { type: 'Flushed', sequence_id: 0 };

  it('does not bring late sound of a text into the next one', async () => {
    const { server, voice } = await setUp((socket, text) => {
      socket.sendBinary(sound(text + 1));
      socket.send(flushed);
    });
    expect([...(await voice.synthesize('One', options))]).toEqual(samples(1));
    server.socket?.sendBinary(sound(7));
    await expect.poll(() => server.open).toBe(0);
    expect([...(await voice.synthesize('Two', options))]).toEqual(samples(2));
    expect(server.connections).toBe(2);
  });

  describe('that ends a text late', () => {
    const end = (text: number) => ({ type: 'Flushed', sequence_id: text });

    it.each([
      ['with a number of its own', (text: number) => end(text)],
      ['with one number for all', () => end(0)],
    ])('is heard: each text %s', async (_, ended) => {
      const { server, voice } = await setUp((socket, text) => {
        socket.sendBinary(sound(text + 1));
        socket.send(ended(text));
      });
      for (const text of [1, 2, 3])
        expect([...(await voice.synthesize(`Text ${text}`, options))]).toEqual(samples(text));
      expect(server.connections).toBe(1);
    });

    it('does not end the next one before its sound', async () => {
      const { server, voice } = await setUp((socket, text) => {
        if (text > 0) socket.send(end(text - 1));
        socket.sendBinary(sound(text + 1));
        socket.send(end(text));
      });
      for (const text of [1, 2, 3])
        expect([...(await voice.synthesize(`Text ${text}`, options))]).toEqual(samples(text));
      expect(server.connections).toBe(1);
    });

    it('has its late sound not taken for that of the next one', async () => {
      const { server, voice } = await setUp((socket, text) => {
        if (text === 2) {
          socket.sendBinary(sound(7));
          socket.send(end(1));
        }
        socket.sendBinary(sound(text + 1));
        socket.send(end(text));
      });
      for (const text of [1, 2])
        expect([...(await voice.synthesize(`Text ${text}`, options))]).toEqual(samples(text));
      await expect(voice.synthesize('Text 3', options)).rejects.toThrow(
        '/v1/speak sent sound of a text before',
      );
      await expect.poll(() => server.open).toBe(0);
    });
  });

  it('is not heard as noise when words come as sound', async () => {
    const { voice } = await setUp((socket) => {
      socket.sendBinary(sound(1));
      socket.sendBinary(Buffer.from('{"error":"overloaded"}'));
      socket.send(flushed);
    });
    await expect(voice.synthesize('One', options)).rejects.toThrow(
      'words in place of sound: {"error":"overloaded"}',
    );
  });

  it('is heard although it warns', async () => {
    const { voice } = await setUp((socket) => {
      socket.send({ type: 'Warning', code: 'DEPRECATED', description: 'use a newer model' });
      socket.sendBinary(sound(1));
      socket.send(flushed);
    });
    expect([...(await voice.synthesize('One', options))]).toEqual(samples(1));
  });

  it('has its warning in the error when no sound follows', async () => {
    const warned = Promise.withResolvers<void>();
    const { clock, server, voice } = await setUp((socket) => {
      socket.send({ type: 'Warning', code: 'EXCESSIVE_FLUSH', description: null });
      socket.send(flushed);
      warned.resolve();
    });
    const failed = voice.synthesize('One', options).catch((error: Error) => error.message);
    await warned.promise;
    expect(await failed).toMatch(/sent no sound \(.*EXCESSIVE_FLUSH\)$/);
    await expect.poll(() => server.open + clock.pending).toBe(0);
  });

  it('has the reason in the error when it sends more than is read', async () => {
    const { clock, voice } = await setUp((socket) => {
      for (let message = 0; message < 20_000; message++) socket.sendBinary(Buffer.alloc(1));
    });
    const failed = voice.synthesize('One', options).catch((error: Error) => error.message);
    let words: unknown = null;
    void failed.then((text) => (words = text));
    for (let turn = 0; words === null && turn < 5000; turn++) {
      await nextTurn();
      clock.advance(20);
    }
    expect(await failed).toMatch(/\/v1\/speak sends more than is read$/);
  });

  it('is understood when fields of an error are null', async () => {
    const { voice } = await setUp((socket) => socket.send({ type: 'Error', code: 'X', description: null }));
    await expect(voice.synthesize('One', options)).rejects.toThrow('/v1/speak: X');
  });

  it.each(['null', '[]', '7', '{"type":"News"}'])(
    'may say %s, which is nothing of interest',
    async (text) => {
      const { voice } = await setUp((socket) => {
        socket.send(JSON.parse(text));
        socket.sendBinary(sound(1));
        socket.send(flushed);
      });
      expect([...(await voice.synthesize('One', options))]).toEqual(samples(1));
    },
  );
});
