/**
 * One call of a visitor:
 *
 *     consent -> microphone -> connecting -> talking -> ended
 *
 * and from each state to ended. Another call begins with the consent again.
 */
import type { Levels } from '../phone/levels.ts';
import { Line, type LineCredentials, type LineEnd } from '../phone/line.ts';
import { type MicrophoneFault, NoMicrophone, openMicrophone, stopMicrophone } from '../phone/microphone.ts';
import { Talk } from '../phone/talk.ts';
import type { Refused } from './chat.ts';
import type { Texts } from './texts.ts';

/** Why it ended, in a sentence. */
type Sentence = Extract<keyof Texts, `call${string}Text`>;

export type CallState =
  | { readonly at: 'consent' | 'microphone' | 'connecting' }
  /** @param since ms since the epoch */
  | { readonly at: 'talking'; readonly since: number; readonly muted: boolean; readonly broken: boolean }
  | { readonly at: 'ended'; readonly why: Sentence };

export interface CallEvents {
  readonly show: (state: CallState) => void;
  readonly levels: (levels: Levels) => void;
  readonly credentials: () => Promise<LineCredentials>;
}

const ofFault: Readonly<Record<MicrophoneFault, Sentence>> = {
  insecure: 'callUnsupportedText',
  denied: 'callDeniedText',
  none: 'callNoMicrophoneText',
  busy: 'callMicrophoneBusyText',
};
const ofEnd: Readonly<Record<LineEnd['why'], Sentence>> = {
  over: 'callEndedText',
  lost: 'callLostText',
  refused: 'callUnavailableText',
  unreachable: 'callUnavailableText',
  forbidden: 'callUnavailableText',
};
const ofCode: Readonly<Record<string, Sentence>> = {
  RATE_LIMITED: 'callBusyText',
  QUOTA_EXCEEDED: 'callBusyText',
  ORIGIN_NOT_ALLOWED: 'callRefusedText',
};

export class VisitorCall {
  #state: CallState = { at: 'consent' };
  #talk: Talk | null = null;
  readonly #events: CallEvents;

  constructor(events: CallEvents) {
    this.#events = events;
    events.show(this.#state);
    // Old browsers, and pages that take it away.
    if (!('RTCPeerConnection' in window)) this.#finish('callUnsupportedText');
  }

  get running(): boolean {
    return this.#state.at !== 'consent' && this.#state.at !== 'ended';
  }

  /** After the visitor has agreed. */
  async begin(): Promise<void> {
    if (this.#state.at !== 'consent') return;
    this.#move({ at: 'microphone' });
    try {
      const microphone = await openMicrophone('');
      if (!this.running) return stopMicrophone(microphone);
      this.#talk = new Talk(microphone, this.#events.levels);
      this.#move({ at: 'connecting' });
      const credentials = await this.#events.credentials();
      if (!this.running) return;
      await this.#talk.begin(Line, credentials, {
        ringing: () => undefined,
        up: () => this.#move({ at: 'talking', since: Date.now(), muted: false, broken: false }),
        // The call has begun with a click, after which browsers play; the other side stays in the transcript.
        unheard: () => undefined,
        broken: (broken) => this.#change({ broken }),
        ended: ({ why }) => this.#finish(ofEnd[why]),
      });
    } catch (error) {
      this.#finish(sentenceOf(error));
    }
  }

  mute(muted: boolean): void {
    this.#talk?.line?.mute(muted);
    this.#change({ muted });
  }

  press(key: string): void {
    this.#talk?.line?.press(key);
  }

  hangUp(): void {
    this.#talk?.line?.hangUp();
    // Before there is a line.
    this.#finish('callEndedText');
  }

  #change(change: { readonly muted?: boolean; readonly broken?: boolean }): void {
    if (this.#state.at === 'talking') this.#move({ ...this.#state, ...change });
  }

  #finish(why: Sentence): void {
    if (this.#state.at === 'ended') return;
    this.#talk?.close();
    this.#talk = null;
    this.#move({ at: 'ended', why });
  }

  #move(state: CallState): void {
    this.#state = state;
    this.#events.show(state);
  }
}

function sentenceOf(error: unknown): Sentence {
  if (error instanceof NoMicrophone) return ofFault[error.fault];
  const { code = '', status } = error as Refused;
  if (status === 403) return 'callRefusedText';
  return ofCode[code] ?? 'callUnavailableText';
}
