/** A media leg in a shard, as calls see it from the main thread. */
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import type { Shaped } from '#shared/shapes.ts';
import type {
  AudioEndpoint,
  BridgeOptions,
  DtmfEvent,
  LegRecording,
  LegSample,
  MediaBridge,
  MediaLeg,
  MediaLegOptions,
  RecordingOrder,
  Soon,
} from '../call/ports/media.ts';
import { type CallRefused, LegsApart } from '../call/refused.ts';
import type { Channel } from './channel.ts';
import { toShard } from './messages.ts';
import { RemoteAgent } from './remote-agent.ts';

/** What a peer hears while a transfer target is called; it is played in the shard. */
export const waitingTone: AudioEndpoint = { sampleRate: 8000, read: () => false };
/** What a peer on hold hears; it is played in the shard, too. */
export const musicOnHold: AudioEndpoint = { sampleRate: 8000, read: () => false };

export interface RemoteLegOptions extends MediaLegOptions {
  readonly id: number;
  readonly channel: Channel;
  /** Called when what is mirrored may have changed. */
  readonly changed: () => void;
  /** Called with the id of its recording. */
  readonly recorded: (recordingId: string) => void;
  /** Called once, when the leg is closed or lost. */
  readonly over: () => void;
}

export class RemoteLeg implements MediaLeg {
  readonly id: number;
  readonly channel: Channel;
  codec: CodecName | null = null;
  keys: MediaLeg['keys'] = null;
  held = false;
  readonly #options: RemoteLegOptions;
  #over = false;
  #recording: RecordingOrder | null = null;

  constructor(options: RemoteLegOptions) {
    this.id = options.id;
    this.channel = options.channel;
    this.#options = options;
  }

  async answer(offer: string): Promise<string> {
    const { sdp, ...session } = await this.channel.ask(toShard.answer, { leg: this.id, offer });
    this.#mirror(session);
    return sdp;
  }

  async offer(anew = false): Promise<string> {
    const { sdp } = await this.channel.ask(toShard.offer, { leg: this.id, anew });
    return sdp;
  }

  async accept(answer: string): Promise<void> {
    this.#mirror(await this.channel.ask(toShard.accept, { leg: this.id, answer }));
  }

  withdraw(): void {
    if (!this.#over) this.channel.tell(toShard.withdraw, { leg: this.id });
  }

  /** @throws LegsApart when the endpoint is an agent in another thread; Error when it is something else there */
  attach(endpoint: AudioEndpoint | null): void {
    if (this.#over) return;
    const isOurs = endpoint instanceof RemoteAgent && endpoint.channel === this.channel;
    const what = isOurs ? 'agent' : sourceOf(endpoint);
    this.channel.tell(toShard.attach, { leg: this.id, what, agent: isOurs ? endpoint.id : null });
  }

  hold(on: boolean): void {
    this.channel.tell(toShard.hold, { leg: this.id, on });
  }

  pressed({ digit, durationMs }: DtmfEvent): void {
    this.channel.tell(toShard.pressed, { leg: this.id, digit, duration_ms: durationMs });
  }

  record(order: RecordingOrder): LegRecording {
    if (this.#recording) throw new Error('the media leg is recorded already');
    const { header, dataKey, announcement, pauseKey } = order;
    const { id: leg, channel } = this;
    this.#recording = order;
    this.#options.recorded(header.id);
    channel.tell(toShard.record, { leg, header, data_key: dataKey, announcement, pause_key: pauseKey });
    const tell = (paused: boolean, withOthers: boolean) =>
      channel.tell(toShard.pauseRecording, { leg, paused, with_others: withOthers });
    return {
      pause: () => tell(true, false),
      resume: () => tell(false, false),
      pauseWithOthers: (on) => tell(on, true),
    };
  }

  recordingPaused(isPaused: boolean): void {
    this.#recording?.paused(isPaused);
  }

  sampled(sample: LegSample): void {
    if (!this.#over) this.#options.sampled?.(sample);
  }

  recordingStopped(...why: Parameters<RecordingOrder['stopped']>): void {
    this.#recording?.stopped(...why);
  }

  async sendDtmf(digits: string): Promise<void> {
    if (!this.#over) await this.channel.ask(toShard.pressKeys, { leg: this.id, digits });
  }

  tell(side: 'near' | 'far', words: Int16Array): void {
    if (!this.#over) this.channel.tell(toShard.tell, { leg: this.id, side, words });
  }

  silentForMs(): Soon<number> {
    if (this.#over) return 0;
    return map(this.channel.askFor(toShard.silence, { leg: this.id }, { ms: 0 }), ({ ms }) => ms);
  }

  report(): Soon<MediaReport | null> {
    return map(
      this.channel.askFor(toShard.report, { leg: this.id }, { report: null }),
      ({ report }) => report,
    );
  }

  close(): void {
    if (!this.#end()) return;
    this.channel.tell(toShard.closeLeg, { leg: this.id });
  }

  /** The leg can carry no more audio, or its shard is gone. */
  fail(error: Error): void {
    if (this.#over) return;
    if (this.channel.closed) this.#end();
    this.#options.failed?.(error);
  }

  #end(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#options.over();
    return true;
  }

  #mirror({ codec, keys, held }: Shaped<typeof toShard.accept.answer>): void {
    this.codec = codec;
    this.keys = keys;
    this.held = held;
    this.#options.changed();
  }
}

function map<T, U>(value: Soon<T>, change: (value: T) => U): Soon<U> {
  return value instanceof Promise ? value.then(change) : change(value);
}

function sourceOf(endpoint: AudioEndpoint | null): 'waiting' | 'music' | 'silence' | 'nothing' {
  if (endpoint === null) return 'nothing';
  if (endpoint === waitingTone) return 'waiting';
  if (endpoint === musicOnHold) return 'music';
  if (endpoint.silent) return 'silence';
  if (endpoint instanceof RemoteAgent) throw new LegsApart();
  throw new Error('an endpoint of another thread cannot be attached to this leg');
}

/** A bridge in a shard. */
export class RemoteBridge implements MediaBridge {
  readonly id: number;
  mode: MediaBridge['mode'] = 'relayed';
  readonly #channel: Channel;
  readonly #options: BridgeOptions;
  readonly #over: () => void;
  #closed = false;

  constructor(id: number, channel: Channel, options: BridgeOptions, over: () => void) {
    this.id = id;
    this.#channel = channel;
    this.#options = options;
    this.#over = over;
  }

  async open(one: RemoteLeg, other: RemoteLeg): Promise<void> {
    const legs = { bridge: this.id, one: one.id, other: other.id };
    const { transcode } = this.#options;
    this.mode = (await this.#channel.ask(toShard.bridge, { ...legs, transcode })).mode;
  }

  fail(error: CallRefused): void {
    if (this.#closed) return;
    this.#end();
    this.#options.failed?.(error);
  }

  close(): void {
    if (this.#closed) return;
    this.#end();
    this.#channel.tell(toShard.closeBridge, { bridge: this.id });
  }

  #end(): void {
    this.#closed = true;
    this.#over();
  }
}
