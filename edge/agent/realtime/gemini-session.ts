/**
 * The Gemini Live protocol: PCM at 16 kHz in, 24 kHz out, JSON in both directions. The server finds the turns, says when
 * the caller interrupted, and continues a session on a new connection by a handle. It cannot be told what was heard.
 */
import type { ToolCall } from '#shared/agent/dialogue.ts';
import { anything, flag, listOf, objectOf, type Shaped, text } from '#shared/shapes.ts';
import { soundOctets } from '../sound-octets.ts';
import type { SpeechServer } from '../speech-socket.ts';
import type { ModelProtocol, ModelSession, SessionEvents, SessionOptions } from './model-session.ts';
import { openingOf } from './realtime-prompt.ts';
import { LinearCodec } from './sound-formats.ts';
import { brokenSound, understood } from './understood.ts';

const words = objectOf({}, { text }, true);
const part = objectOf({}, { inlineData: objectOf({}, { mimeType: text, data: text }, true) }, true);
const functionCall = objectOf({}, { id: text, name: text, args: anything }, true);

const message = objectOf(
  {},
  {
    setupComplete: objectOf({}, {}, true),
    serverContent: objectOf(
      {},
      {
        modelTurn: objectOf({}, { parts: listOf(part) }, true),
        inputTranscription: words,
        outputTranscription: words,
        interrupted: flag,
        turnComplete: flag,
      },
      true,
    ),
    toolCall: objectOf({}, { functionCalls: listOf(functionCall) }, true),
    toolCallCancellation: objectOf({}, { ids: listOf(text) }, true),
    goAway: objectOf({}, { timeLeft: text }, true),
    sessionResumptionUpdate: objectOf({}, { newHandle: text, resumable: flag }, true),
  },
  true,
);
type Content = NonNullable<Shaped<typeof message>['serverContent']>;

/** Characters of a turn's words. */
const longestTurn = 20_000;

/** The answer before: its words may come after its end, as nothing keeps words and sound of this protocol in order. */
interface EndedAnswer {
  readonly item: string;
  words: string;
  /** Words have come since it ended. */
  late: boolean;
  /** The caller interrupted it, and the server has not said yet that this turn is over. */
  open: boolean;
}

export const geminiProtocol: ModelProtocol = {
  url: (server) => server.url,
  headers: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  session: (server, options, events) => new GeminiSession(server, options, events),
};

class GeminiSession implements ModelSession {
  readonly sampleRate = 16_000;
  resumption: string | null = null;
  readonly #model: string;
  readonly #options: SessionOptions;
  readonly #events: SessionEvents;
  readonly #codec = new LinearCodec({ input: 16_000, output: 24_000 });
  #ready = false;
  /** Answers have no names in this protocol. */
  #turn = 0;
  #answering = false;
  #heard = '';
  /** Of the answer that is being made. */
  #words = '';
  #ended: EndedAnswer | null = null;

  constructor({ model }: SpeechServer, options: SessionOptions, events: SessionEvents) {
    this.#model = model;
    this.#options = options;
    this.#events = events;
  }

  opened(): void {
    const { instructions, tools, voice, language, temperature, interruptible, resumption } = this.#options;
    this.#send({
      setup: {
        model: this.#model.startsWith('models/') ? this.#model : `models/${this.#model}`,
        generationConfig: {
          responseModalities: ['AUDIO'],
          ...(temperature !== null && { temperature }),
          speechConfig: {
            languageCode: language,
            ...(voice !== null && { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } }),
          },
        },
        systemInstruction: { parts: [{ text: instructions }] },
        tools: [
          {
            functionDeclarations: tools.map(({ name, description, inputSchema }) => ({
              name,
              description,
              parametersJsonSchema: inputSchema,
            })),
          },
        ],
        realtimeInputConfig: {
          activityHandling: interruptible ? 'START_OF_ACTIVITY_INTERRUPTS' : 'NO_INTERRUPTION',
        },
        inputAudioTranscription: {},
        outputAudioTranscription: {},
        sessionResumption: resumption === null ? {} : { handle: resumption },
        contextWindowCompression: { slidingWindow: {} },
      },
    });
  }

  audio(frame: Int16Array): void {
    if (!this.#ready) return;
    const data = this.#codec.encode(frame).toString('base64');
    this.#events.send(`{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"${data}"}}}`);
  }

  begin(sentence: string | null, told: string | null): void {
    this.tell(openingOf(sentence, told));
  }

  /** It ends an answer that is being made. */
  tell(text: string): void {
    this.#settle();
    this.#content([{ role: 'user', parts: [{ text: `[System] ${text}` }] }], true);
  }

  toolResult({ id, name }: ToolCall, response: unknown): void {
    this.#settle();
    this.#send({ toolResponse: { functionResponses: [{ id, name, response }] } });
  }

  cut(): void {}

  stop(): void {}

  end(): void {
    this.#settle();
    this.#turnHeard();
  }

  receive(received: unknown): void {
    if (!understood(message, received, this.#events.problem)) return;
    const { setupComplete, serverContent, toolCall, toolCallCancellation, goAway } = received;
    const { sessionResumptionUpdate: update } = received;
    if (setupComplete) this.#begun();
    if (serverContent) this.#turnGoesOn(serverContent);
    for (const { id, name, args } of toolCall?.functionCalls ?? []) {
      if (id !== undefined && name !== undefined) this.#events.tool({ id, name, input: args ?? {} });
    }
    for (const id of toolCallCancellation?.ids ?? []) this.#events.toolCancelled(id);
    if (update?.resumable && update.newHandle) this.resumption = update.newHandle;
    if (goAway) this.#events.ending(`the server ends the session in ${goAway.timeLeft ?? 'a moment'}`);
  }

  #begun(): void {
    if (this.#ready) return;
    this.#ready = true;
    const { history, resumption } = this.#options;
    // With a handle the server remembers the conversation itself.
    if (resumption === null && history.length > 0) {
      const turns = history.map(({ user, text }) => ({
        role: user === 'assistant' ? 'model' : 'user',
        parts: [{ text }],
      }));
      this.#content(turns, false);
    }
    this.#events.ready();
  }

  #turnGoesOn({
    modelTurn,
    inputTranscription,
    outputTranscription,
    interrupted,
    turnComplete,
  }: Content): void {
    if (inputTranscription?.text) {
      if (!this.#ended?.open) this.#settle();
      this.#heard = joined(this.#heard, inputTranscription.text);
    }
    for (const { inlineData } of modelTurn?.parts ?? []) {
      if (!inlineData?.data || !inlineData.mimeType?.startsWith('audio/pcm')) continue;
      this.#answer();
      if (!this.#events.room(this.#item)) continue;
      const octets = soundOctets(inlineData.data);
      if (octets) this.#events.sound(this.#item, this.#codec.decode(octets));
      else this.#events.problem(brokenSound);
    }
    if (outputTranscription?.text) this.#said(outputTranscription.text);
    if (interrupted) this.#events.interrupted();
    if (this.#answering && (interrupted || turnComplete)) this.#end(turnComplete !== true);
    else if (turnComplete) this.#settle();
    if (interrupted || turnComplete) this.#turnHeard();
  }

  #said(more: string): void {
    if (!this.#answering && this.#ended) {
      this.#ended.words = joined(this.#ended.words, more);
      this.#ended.late = true;
      return;
    }
    this.#answer();
    this.#words = joined(this.#words, more);
    this.#events.words(this.#item, more);
  }

  /** An answer begins: the caller's turn is over. */
  #answer(): void {
    if (this.#answering) return;
    this.#settle();
    this.#answering = true;
    this.#turnHeard();
  }

  #end(open: boolean): void {
    this.#turnHeard();
    this.#answering = false;
    this.#events.sound(this.#item, this.#codec.flush());
    this.#events.soundOver(this.#item);
    this.#events.said(this.#item, null);
    this.#ended = { item: this.#item, words: this.#words, late: false, open };
    this.#words = '';
    this.#turn++;
  }

  /** The answer before has all its words: what comes from now on belongs to the next one. */
  #settle(): void {
    const ended = this.#ended;
    this.#ended = null;
    if (ended?.late) this.#events.said(ended.item, ended.words);
  }

  #turnHeard(): void {
    const text = this.#heard;
    this.#heard = '';
    if (text !== '') this.#events.heard(text);
  }

  get #item(): string {
    return `turn-${this.#turn}`;
  }

  #content(turns: readonly object[], turnComplete: boolean): void {
    this.#send({ clientContent: { turns, turnComplete } });
  }

  #send(message: object): void {
    this.#events.send(JSON.stringify(message));
  }
}

function joined(words: string, more: string): string {
  return (words + more).slice(0, longestTurn);
}
