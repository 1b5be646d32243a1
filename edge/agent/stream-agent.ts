/** An agent behind a WebSocket: sends it the call's audio and plays what comes back. */

import { asText } from '#shared/agent/template.ts';
import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { NewId } from '#shared/ids.ts';
import type { Log } from '../call/log.ts';
import type { AgentHost, AgentLeg, CallFacts } from '../call/ports/agents.ts';
import type { DtmfEvent } from '../call/ports/media.ts';
import { AudioUplink } from './audio-uplink.ts';
import { PlayQueue } from './play-queue.ts';
import { StreamLink, type StreamLinkDeps } from './stream-link.ts';
import { decodePayload, parseServerMessage, type ServerMessage } from './stream-messages.ts';
import { passOn, transferTo } from './transfer-to.ts';

export type StreamSettings = Extract<AgentSettings, { kind: 'stream' }>;

export interface StreamAgentDeps extends Omit<StreamLinkDeps, 'url' | 'callId' | 'log'> {
  readonly log: Log;
  readonly newId: NewId;
}

export class StreamAgent implements AgentLeg {
  readonly #settings: StreamSettings;
  readonly #call: CallFacts;
  readonly #host: AgentHost;
  readonly #log: Log;
  readonly #link: StreamLink;
  readonly #streamSid: string;
  readonly #maxQueuedSeconds: number;
  #queue = new PlayQueue(0);
  #uplink: AudioUplink | null = null;
  #sequence = 0;
  #started = false;
  #closed = false;
  /** Transfers whose outcome has not been reported to the server yet. */
  readonly #transfers = new Set<Promise<void>>();
  /** Key sequences to the caller, sent one after the other. */
  #keys: Promise<void> = Promise.resolve();

  constructor(settings: StreamSettings, call: CallFacts, host: AgentHost, deps: StreamAgentDeps) {
    this.#settings = settings;
    this.#call = call;
    this.#host = host;
    this.#log = deps.log;
    this.#streamSid = deps.newId();
    this.#maxQueuedSeconds = deps.limits.maxQueuedSeconds;
    this.#link = new StreamLink(
      { ...deps, url: settings.stream_url, callId: call.callId },
      {
        opened: () => this.#onOpen(),
        message: (text) => this.#onMessage(text),
        lost: () => this.#queue.clear(),
        closedByServer: () => host.hangup('the stream server closed the socket with 1000'),
        givenUp: (reason) => this.#onGivenUp(reason),
      },
    );
  }

  get sampleRate(): 8000 | 16000 {
    return this.#link.format.sampleRate;
  }

  /** Queued samples from the server. */
  get queuedSamples(): number {
    return this.#queue.queuedSamples;
  }

  /** Frames of the caller dropped because the server was too slow. */
  get droppedFrames(): number {
    return this.#uplink?.dropped ?? 0;
  }

  async prepare(): Promise<void> {
    await this.#link.connect();
  }

  start(): void {
    this.#started = true;
    this.#begin(false);
  }

  read(frame: Int16Array): boolean {
    return this.#queue.read(frame);
  }

  write(frame: Int16Array): void {
    if (this.#started && this.#link.open) this.#uplink?.write(frame);
  }

  dtmf(event: DtmfEvent): void {
    if (this.#settings.ignore_button_press) return;
    this.#sendNumbered({
      event: 'dtmf',
      dtmf: { track: 'inbound_track', digit: event.digit, duration_ms: event.durationMs },
    });
  }

  close(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    // A successful transfer closes its agent, but its outcome still has to be sent to the server.
    if (this.#transfers.size === 0) this.#finish(reason);
    else void Promise.all(this.#transfers).then(() => this.#finish(reason));
  }

  #finish(reason: string): void {
    if (this.#started) {
      const { orgId, callId } = this.#call;
      this.#sendNumbered({ event: 'stop', stop: { accountSid: orgId, callSid: callId, reason } });
    }
    this.#link.close();
    this.#queue = new PlayQueue(0);
  }

  // ---------------------------------------------------------------- to the server

  #onOpen(): void {
    const { format } = this.#link;
    if (!this.#uplink) {
      this.#queue = new PlayQueue(format.sampleRate * this.#maxQueuedSeconds);
      this.#uplink = new AudioUplink(this.#uplinkSocket(), format, this.#log);
    }
    this.#send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    if (this.#started) this.#begin(true);
  }

  #begin(resumed: boolean): void {
    if (this.#closed) return;
    this.#sequence = 0;
    this.#uplink?.restart();
    const { encoding, sampleRate } = this.#link.format;
    const { orgId, callId } = this.#call;
    this.#sendNumbered({
      event: 'start',
      start: {
        streamSid: this.#streamSid,
        accountSid: orgId,
        callSid: callId,
        tracks: ['inbound'],
        mediaFormat: { encoding, sampleRate, channels: 1 },
        customParameters: this.#customParameters(resumed),
      },
    });
  }

  #customParameters(resumed: boolean): Record<string, string> {
    const { from, to, direction, variables } = this.#call;
    return {
      ...texts(this.#settings.request_data),
      ...texts(variables),
      from,
      to,
      direction,
      ...(resumed ? { resumed: 'true' } : {}),
      // An addition to the contract: otherwise a bot that expects `dtmf` would wait forever.
      ...(this.#host.keysPossible() ? {} : { keys: 'none' }),
    };
  }

  #uplinkSocket() {
    const link = this.#link;
    return {
      get bufferedBytes() {
        return link.bufferedBytes;
      },
      // Hand-written JSON: this runs 50 times a second per call, and nothing in it needs escaping.
      sendMedia: (frame: number, payload: string) => {
        link.send(
          `{"event":"media","sequenceNumber":"${++this.#sequence}","streamSid":"${this.#streamSid}","media":` +
            `{"track":"inbound","chunk":"${frame + 1}","timestamp":"${frame * 20}","payload":"${payload}"}}`,
        );
      },
    };
  }

  #sendNumbered(message: { readonly event: string } & Record<string, unknown>): void {
    if (!this.#started || !this.#link.open) return;
    const { event, ...content } = message;
    this.#send({ event, sequenceNumber: String(++this.#sequence), streamSid: this.#streamSid, ...content });
  }

  #send(message: Record<string, unknown>): void {
    this.#link.send(JSON.stringify(message));
  }

  // ---------------------------------------------------------------- from the server

  #onMessage(text: string): void {
    const problem = (why: string) => this.#log.warn({ why }, 'a stream message is ignored');
    const message = parseServerMessage(text, this.#streamSid, problem);
    if (message && !this.#closed) this.#obey(message);
  }

  #obey(message: ServerMessage): void {
    switch (message.event) {
      case 'media':
        this.#play(message.payload);
        break;
      case 'mark':
        this.#queue.mark(() => this.#sendNumbered({ event: 'mark', mark: { name: message.name } }));
        break;
      case 'clear':
        this.#queue.clear();
        break;
      case 'dtmf':
        this.#keys = this.#keys
          .then(() => this.#host.sendDtmf(message.digits))
          .catch((error: unknown) => this.#log.warn({ err: error }, 'keys could not be sent'));
        break;
      case 'hangup':
        this.#host.hangup(message.reason ?? 'requested by the stream server');
        break;
      case 'transfer':
        this.#beginTransfer(message.target, message.method);
        break;
    }
  }

  #play(payload: string): void {
    const dropped = this.#queue.push(decodePayload(payload, this.#link.format));
    if (dropped === 0) return;
    const droppedMs = Math.round((dropped * 1000) / this.sampleRate);
    this.#log.warn({ dropped_ms: droppedMs }, 'the queue of audio to play is full');
  }

  #beginTransfer(target: string, method: 'bridge' | 'refer'): void {
    const transfer = this.#transfer(target, method);
    this.#transfers.add(transfer);
    void transfer.then(() => this.#transfers.delete(transfer));
  }

  async #transfer(target: string, method: 'bridge' | 'refer'): Promise<void> {
    this.#sendTransfer('started');
    const outcome = await transferTo(this.#host, target, method);
    if (outcome.ok) this.#sendTransfer('completed');
    else this.#sendTransfer('failed', outcome.sipCode, outcome.reason);
  }

  #sendTransfer(
    status: 'started' | 'completed' | 'failed',
    sipCode: number | null = null,
    reason: string | null = null,
  ): void {
    const transfer = { status, sip_code: sipCode, reason };
    this.#send({ event: 'transfer', streamSid: this.#streamSid, transfer });
  }

  /** The socket cannot be restored: the fallback number takes the call, or the call fails (contract 9.5). */
  #onGivenUp(reason: string): void {
    const lost = new Error(`${reason} and did not reconnect in time`);
    const { fallback_number: fallback } = this.#settings;
    if (fallback === null) this.#host.fail(lost);
    else void passOn(this.#host, fallback, lost, this.#log);
  }
}

function texts(values: CallVariables): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, asText(value)]));
}
