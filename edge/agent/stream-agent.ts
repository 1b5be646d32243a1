/** An agent behind a WebSocket: sends it the call's audio and plays what comes back. */

import { asText } from '#shared/agent/template.ts';
import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { NewId } from '#shared/ids.ts';
import type { Log } from '../call/log.ts';
import type { AgentHost, AgentLeg, CallFacts } from '../call/ports/agents.ts';
import type { DtmfEvent } from '../call/ports/media.ts';
import { Allowance } from './allowance.ts';
import { AudioUplink } from './audio-uplink.ts';
import { PlayQueue } from './play-queue.ts';
import { StreamLink, type StreamLinkDeps } from './stream-link.ts';
import { decodePayload, samplesIn } from './stream-messages.ts';
import { readOrder, type StreamError, type StreamOrder } from './stream-orders.ts';
import { passOn, transferTo } from './transfer-to.ts';

export type StreamSettings = Extract<AgentSettings, { kind: 'stream' }>;

type TransferRequest = Extract<StreamOrder, { event: 'transfer' }>;

export interface StreamAgentDeps extends Omit<StreamLinkDeps, 'url' | 'callId' | 'log'> {
  readonly log: Log;
  readonly newId: NewId;
}

/** Marks that wait to be played, and key sequences that wait to be sent. */
const mostMarks = 1_000;
const mostKeySequences = 10;
/**
 * Frames of 20 ms without audio after which more of it begins something new, and is played at once: after a shorter gap
 * the server is slow, and some is gathered.
 */
const pauseFrames = 25;
/** Per second, besides audio, marks and `clear`, which the queue limits. */
const mostOrders = 50;
/** Errors per second that the server and the log get. */
const mostErrors = 10;
/** Of a call: each is a line of its transcript. */
const mostCustomEvents = 1_000;

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
  /** Whether the server has been told that the call began. */
  #told = false;
  #closed = false;
  /** Transfers whose outcome has not been reported to the server yet. */
  readonly #transfers = new Set<Promise<boolean>>();
  /** Key sequences to the caller, sent one after the other. */
  #keys: Promise<void> = Promise.resolve();
  #keysWaiting = 0;
  #marks = 0;
  #customEvents = 0;
  readonly #orders: Allowance;
  readonly #errors: Allowance;
  readonly #deps: Pick<StreamAgentDeps, 'clock' | 'newId'>;

  constructor(settings: StreamSettings, call: CallFacts, host: AgentHost, deps: StreamAgentDeps) {
    this.#settings = settings;
    this.#call = call;
    this.#host = host;
    this.#log = deps.log;
    this.#deps = deps;
    this.#orders = new Allowance(deps.clock, mostOrders);
    this.#errors = new Allowance(deps.clock, mostErrors);
    this.#streamSid = deps.newId();
    this.#maxQueuedSeconds = deps.limits.maxQueuedSeconds;
    this.#link = new StreamLink(
      { ...deps, url: settings.stream_url, callId: call.callId },
      {
        opened: () => this.#onOpen(),
        message: (text) => this.#onMessage(text),
        lost: () => this.#queue.clear(),
        closedByServer: () => host.hangup('the stream server closed the socket with 1000'),
        givenUp: (reason) => void this.#onGivenUp(reason),
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
    this.#begin();
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
    if (this.#started) this.#begin();
  }

  #begin(): void {
    if (this.#closed || !this.#link.open) return;
    const resumed = this.#told;
    this.#told = true;
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
    if (this.#closed) return;
    const read = readOrder(text, this.#streamSid);
    if (read === null) return;
    if ('error' in read) this.#refuse(read.error);
    else this.#obey(read.order);
  }

  #obey(order: StreamOrder) {
    switch (order.event) {
      case 'media':
        return this.#play(order.payload);
      case 'mark':
        return this.#mark(order.name);
      case 'clear':
        return this.#queue.clear();
    }
    if (!this.#orders.take()) {
      return this.#limit(order.event, `More than ${mostOrders} messages in a second, audio and marks aside.`);
    }
    switch (order.event) {
      case 'dtmf':
        return this.#press(order.digits);
      case 'hangup':
        return this.#host.hangup(order.reason ?? 'requested by the stream server', order.bye);
      case 'transfer':
        return this.#beginTransfer(order);
      case 'recording':
        if (this.#host.recording?.(order.action)) return;
        return this.#refuse({
          event: 'recording',
          code: 'recording_unavailable',
          message: `The call is not recorded: there is nothing to ${order.action}.`,
        });
      case 'custom':
        return this.#note(order.name, order.data);
    }
  }

  #mark(name: string) {
    if (this.#marks >= mostMarks) return this.#limit('mark', `${mostMarks} marks wait to be played.`);
    this.#marks++;
    this.#queue.mark(() => {
      this.#marks--;
      this.#sendNumbered({ event: 'mark', mark: { name } });
    });
  }

  #press(digits: string) {
    if (this.#keysWaiting >= mostKeySequences) {
      return this.#limit('dtmf', `${mostKeySequences} key sequences wait to be sent.`);
    }
    this.#keysWaiting++;
    this.#keys = this.#keys
      .then(() => this.#host.sendDtmf(digits))
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        this.#refuse({ event: 'dtmf', code: 'keys_unavailable', message: `The keys were not sent: ${why}.` });
      })
      .finally(() => {
        this.#keysWaiting--;
      });
  }

  /** An event of the server's own, kept with the call. */
  #note(name: string, data: string) {
    if (this.#customEvents >= mostCustomEvents) {
      return this.#limit('custom', `${mostCustomEvents} custom events are kept with a call.`);
    }
    this.#customEvents++;
    const { clock, newId } = this.#deps;
    this.#host.transcript({
      id: newId(),
      at: new Date(clock.now()).toISOString(),
      user: 'agent-action',
      text: `${name}: ${data}`,
      node_id: null,
      node_name: null,
    });
  }

  #limit(event: string, message: string): void {
    this.#refuse({ event, code: 'limit', message });
  }

  /** Tells the server why its message has no effect, and the log. */
  #refuse(error: StreamError): void {
    if (!this.#errors.take()) return;
    this.#log.warn({ error }, 'a stream message was refused');
    this.#send({ event: 'error', streamSid: this.#streamSid, error });
  }

  #play(payload: string): void {
    const { format } = this.#link;
    if (this.#queue.silentFrames >= pauseFrames) this.#queue.begin(false);
    // A server that sends more than is queued costs no more than reading its messages.
    const dropped = this.#queue.hasRoom
      ? this.#queue.push(decodePayload(payload, format))
      : samplesIn(payload, format);
    if (dropped === 0) return;
    const droppedMs = Math.round((dropped * 1000) / this.sampleRate);
    this.#limit('media', `${droppedMs} ms of audio were dropped: ${this.#maxQueuedSeconds} s are queued.`);
  }

  #beginTransfer(order: TransferRequest): void {
    const transfer = this.#transfer(order);
    this.#transfers.add(transfer);
    void transfer.then(() => this.#transfers.delete(transfer));
  }

  /** @returns whether the call is transferred */
  async #transfer({ target, method, consult }: TransferRequest): Promise<boolean> {
    this.#sendTransfer('started');
    const outcome = await transferTo(this.#host, target, method, consult);
    if (outcome.ok) this.#sendTransfer('completed');
    else this.#sendTransfer('failed', outcome.sipCode, outcome.reason);
    return outcome.ok;
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
  async #onGivenUp(reason: string): Promise<void> {
    // A target that is being called may answer although the server is lost.
    const transferred = this.#transfers.size > 0 && (await Promise.all(this.#transfers)).includes(true);
    if (transferred || this.#closed) return;
    const lost = new Error(`${reason} and did not reconnect in time`);
    const { fallback_number: fallback } = this.#settings;
    if (fallback === null) this.#host.fail(lost);
    else await passOn(this.#host, fallback, lost, this.#log);
  }
}

function texts(values: CallVariables): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, asText(value)]));
}
