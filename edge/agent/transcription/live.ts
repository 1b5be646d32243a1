/**
 * The transcription of one call: audio is kept until its words are settled; the next provider follows one that fails.
 *
 *     write --> [ ring: settled | sent | not sent ] --pump--> connection --> partial, settled, finished
 *
 *     [ idle ] --first frame--> [ connecting ] --> [ connected ] --lost--> [ waiting ] --> [ connecting ]
 */
import type { Timer } from '#shared/clock.ts';
import { Timers } from '#shared/timers.ts';
import { AudioRing } from './audio-ring.ts';
import { type LiveDeps, retryMs } from './live-deps.ts';
import { answerDue, ToldWords, type Turn, turnOf } from './live-turn.ts';
import type { ProviderConnection, ProviderEvents, TranscriptionProvider } from './provider.ts';
import {
  bounded,
  type HeardWords,
  joined,
  noWords,
  type Transcription,
  type TranscriptionEvents,
  type TranscriptionOptions,
} from './transcription.ts';

export class LiveTranscription implements Transcription {
  readonly #options: TranscriptionOptions;
  readonly #events: TranscriptionEvents;
  readonly #deps: LiveDeps;
  readonly #ring: AudioRing;
  readonly #timers: Timers;
  readonly #over = new AbortController();
  /** The open turn, and those whose words are awaited, oldest first. */
  readonly #turns: Turn[] = [];
  #provider: TranscriptionProvider | null = null;
  #connection: ProviderConnection | null = null;
  /** Number of the connection of now: events of former ones are ignored. */
  #attempt = 0;
  #failedInARow = 0;
  #lastError: Error | null = null;
  /** Position after what was sent on this connection, and where it began. */
  #sent = 0;
  #base = 0;
  /** Words up to here were handed over: a provider that is late must not repeat them. */
  #delivered = 0;
  /** The provider has ended a turn here on its own, and has heard nothing since; -1: it has not. */
  #completeAt = -1;
  /** Answers of this connection that were not waited for any longer. */
  #owed = 0;
  /** Whether nothing came since it was told the end of a turn. */
  #silent = false;
  #settled: HeardWords = noWords;
  readonly #told = new ToldWords();
  #tail: HeardWords = noWords;
  #deadline: Timer | null = null;
  #paused: Timer | null = null;
  #lossLogged = false;
  #openSince = 0;
  /** Open connections to this provider that were lost one after the other, each soon after it was opened. */
  #youngLosses = 0;
  /** Whether a connection is being opened, or an attempt is planned. */
  #connecting = false;

  constructor(options: TranscriptionOptions, events: TranscriptionEvents, deps: LiveDeps) {
    this.#options = options;
    this.#events = events;
    this.#deps = deps;
    this.#ring = new AudioRing(options.sampleRate * deps.limits.maxKeptSeconds);
    this.#timers = new Timers(deps.clock);
  }

  write(frame: Int16Array): void {
    if (this.#closed) return;
    if (this.#ring.append(frame) > 0) this.#lostAudio();
    if (!this.#connection && !this.#connecting) this.#connect();
    this.#pump();
    if (this.#turns.length === 0) this.#forgetSilence();
  }

  begin(lateMs = 0): void {
    if (this.#closed || this.#turns.at(-1)?.to === null) return;
    const former = this.#turns.at(-1)?.to ?? 0;
    const from = Math.max(
      this.#ring.oldest,
      former,
      this.#ring.end - this.#samples(this.#deps.limits.leadMs + lateMs),
    );
    this.#add(from, null);
    this.#pump();
  }

  end(): void {
    if (this.#closed) return;
    const open = this.#turns.at(-1);
    const at = this.#ring.end;
    if (open?.to === null) {
      open.to = at;
      open.endedAt = this.#deps.clock.elapsed();
    } else
      this.#add(this.#provider?.continuous ? Math.min(at, Math.max(open?.to ?? 0, this.#delivered)) : at, at);
    // A provider that answers no turn at all, while its caller goes on talking.
    if (this.#turns.length > this.#deps.limits.maxTurns) this.#finish(true);
    this.#pump();
    this.#awaitFinal();
  }

  close(): void {
    if (this.#closed) return;
    this.#over.abort(new Error('the transcription was closed'));
    this.#timers.stop();
    this.#attempt++;
    this.#connection?.close();
    this.#connection = null;
    this.#turns.length = 0;
    this.#ring.drop(this.#ring.end);
  }

  get #closed(): boolean {
    return this.#over.signal.aborted;
  }

  #samples(ms: number): number {
    return Math.round((this.#options.sampleRate * ms) / 1000);
  }

  #add(from: number, to: number | null): void {
    this.#turns.push(turnOf(from, to, this.#deps.clock.elapsed()));
  }

  // ---------------------------------------------------------------- sending

  /** Sends what the provider can take: whole pieces, and the rest of a turn with its end. */
  #pump(): void {
    const connection = this.#connection;
    const provider = this.#provider;
    if (!connection || !provider) return;
    const piece = this.#samples(provider.pieceMs);
    const mostUnread = 2 * this.#samples(this.#deps.limits.maxUnreadMs);
    for (;;) {
      const turn = this.#turns.find(({ endSent }) => !endSent);
      if (!provider.continuous && !turn) return;
      this.#skipTo(provider.continuous || !turn ? this.#ring.oldest : Math.max(turn.from, this.#ring.oldest));
      const limit = turn?.to ?? this.#ring.end;
      const ended = turn !== undefined && turn.to !== null;
      while (limit - this.#sent >= piece || (ended && limit > this.#sent)) {
        if (connection.bufferedBytes > mostUnread) {
          this.#pumpLater();
          return;
        }
        const samples = Math.min(piece, limit - this.#sent);
        connection.audio(this.#ring.read(this.#sent, samples));
        this.#sent += samples;
        if (this.#connection !== connection) return;
      }
      if (!turn || !ended) return;
      turn.endSent = true;
      if (this.#completeAt > turn.from) this.#finish(false);
      else {
        this.#silent = true;
        connection.end();
      }
      if (this.#connection !== connection) return;
    }
  }

  /** The provider does not read: it gets the rest later. */
  #pumpLater(): void {
    this.#paused ??= this.#timers.after(this.#deps.limits.pauseMs, () => {
      this.#paused = null;
      this.#pump();
    });
  }

  /** What is not sent shifts the provider's times. */
  #skipTo(position: number): void {
    if (position <= this.#sent) return;
    this.#base += position - this.#sent;
    this.#sent = position;
  }

  /** Between turns only a little is kept: a provider that hears all of it has settled what is older. */
  #forgetSilence(): void {
    const { idleKeptMs, leadMs, lateMs } = this.#deps.limits;
    const kept = this.#provider?.continuous ? idleKeptMs : leadMs + lateMs;
    this.#ring.drop(this.#ring.end - this.#samples(kept));
  }

  #lostAudio(): void {
    this.#deps.meter.count('lost_audio');
    if (this.#lossLogged) return;
    this.#lossLogged = true;
    const words = `what the caller said more than ${this.#deps.limits.maxKeptSeconds} s ago is lost`;
    this.#deps.log.warn({ err: this.#lastError }, `the transcription server takes no audio: ${words}`);
  }

  // ---------------------------------------------------------------- words

  #eventsOf(attempt: number): ProviderEvents {
    const current = () => {
      if (attempt !== this.#attempt || this.#closed) return false;
      this.#silent = false;
      return true;
    };
    return {
      partial: (words) => current() && this.#partial(bounded(words)),
      settled: (words, throughMs) => current() && this.#settle(bounded(words), throughMs),
      finished: (throughMs) => current() && this.#finished(throughMs),
      turn: (signal) => current() && this.#events.turn(signal),
      turnFailed: (error) => current() && this.#turnFailed(error),
      lost: (error, given) => current() && this.#lost(error, given),
    };
  }

  #turnFailed(error: Error): void {
    this.#deps.meter.count('failures');
    if (this.#owed === 0) this.#events.failed(error);
  }

  #partial(words: HeardWords): void {
    this.#tail = words;
    if (words.text !== '') this.#completeAt = -1;
    this.#heardSomething(words);
    this.#show(joined(this.#settled, words));
  }

  #settle(words: HeardWords, throughMs: number | null): void {
    this.#failedInARow = 0;
    if (throughMs === null) {
      if (this.#owed > 0) return;
    } else {
      const through = Math.min(this.#sent, this.#base + this.#samples(throughMs));
      if (through <= this.#delivered || this.#told.isRepeated(words.text, through)) return;
      this.#ring.drop(through);
    }
    this.#settled = joined(this.#settled, words);
    this.#tail = noWords;
    this.#heardSomething(words);
    if (words.text !== '') this.#show(this.#settled);
  }

  /** The words of a turn that has ended are no news about the next one. */
  #show(words: HeardWords): void {
    const turn = this.#turns[0];
    if (words.text !== '' && (!turn || turn.to === null)) this.#events.partial(words);
  }

  #heardSomething(words: HeardWords): void {
    const turn = this.#turns[0];
    if (!turn || turn.hadPartial || words.text === '') return;
    turn.hadPartial = true;
    this.#deps.meter.took('first_partial', this.#deps.clock.elapsed() - turn.beganAt);
  }

  #finished(throughMs: number | null): void {
    if (throughMs === null) {
      if (this.#owed > 0) this.#owed--;
      else this.#finish(false);
      return;
    }
    const through = this.#base + this.#samples(throughMs);
    const turn = this.#turns[0];
    // The answer for a turn that was not waited for any longer ends before this one begins.
    if (turn && turn.to !== null && turn.from < through) this.#finish(false);
    else this.#completeAt = Math.min(through, this.#sent);
  }

  /** Hands over the words of the oldest turn. @param late without its last words, which the provider owes */
  #finish(late: boolean): void {
    const turn = this.#turns[0];
    if (!turn || turn.to === null) return;
    this.#turns.shift();
    const { clock, choice, meter } = this.#deps;
    if (late) {
      meter.count('late_finals');
      this.#delivered = turn.to;
      if (turn.endSent && this.#connection) this.#owed++;
    } else {
      this.#lastError = null;
      meter.took('final', clock.elapsed() - turn.endedAt);
      if (this.#provider) choice.works(this.#provider);
    }
    const words = late ? joined(this.#settled, this.#tail) : this.#settled;
    this.#settled = noWords;
    this.#tail = noWords;
    this.#completeAt = -1;
    this.#ring.drop(turn.to);
    if (late && this.#lastError) this.#events.failed(this.#lastError);
    this.#awaitFinal();
    this.#events.final(words);
  }

  /** One timer: for the turn that waits longest. */
  #awaitFinal(): void {
    this.#deadline?.cancel();
    this.#deadline = null;
    const turn = this.#turns[0];
    if (!turn || turn.to === null) return;
    const { clock, limits } = this.#deps;
    const connected = this.#connection && this.#provider;
    const answerer = connected && { finalWithinMs: connected.finalWithinMs, since: this.#openSince };
    const unsettledMs = ((turn.to - this.#ring.oldest) * 1000) / this.#options.sampleRate;
    const left = Math.max(0, answerDue(turn, answerer, unsettledMs, limits) - clock.elapsed());
    this.#deadline = this.#timers.after(left, () => this.#unanswered());
  }

  /** A server that says nothing at all has failed: the next one gets the turn. */
  #unanswered(): void {
    const late = new Error('the transcription server did not answer in time');
    const silent = this.#silent && this.#connection ? this.#provider : null;
    const { choice } = this.#deps;
    if (silent) choice.failed(silent);
    const next = choice.next();
    if (silent && next !== silent && choice.isFree(next)) this.#lost(late, false);
    else {
      this.#lastError ??= late;
      this.#finish(true);
    }
  }

  // ---------------------------------------------------------------- connecting

  #connect(): void {
    const { choice, limits, log, meter } = this.#deps;
    const provider = choice.next();
    if (this.#provider && provider !== this.#provider) {
      meter.count('fallbacks');
      log.info({ from: this.#provider.name, to: provider.name }, 'transcription continues at another server');
      this.#youngLosses = 0;
    }
    this.#provider = provider;
    this.#connecting = true;
    const attempt = ++this.#attempt;
    const limit = new AbortController();
    const timer = this.#timers.after(limits.openTimeoutMs, () => {
      limit.abort(new Error(`${provider.name} did not open within ${limits.openTimeoutMs} ms`));
    });
    const signal = AbortSignal.any([this.#over.signal, limit.signal]);
    provider.connect(this.#options, this.#eventsOf(attempt), signal).then(
      (connection) => {
        timer.cancel();
        if (attempt !== this.#attempt || this.#closed) connection.close();
        else this.#connected(connection);
      },
      (error: unknown) => {
        timer.cancel();
        if (attempt !== this.#attempt || this.#closed) return;
        choice.failed(provider);
        this.#lost(error instanceof Error ? error : new Error(String(error)), false);
      },
    );
  }

  #connected(connection: ProviderConnection): void {
    this.#connecting = false;
    this.#connection = connection;
    this.#openSince = this.#deps.clock.elapsed();
    this.#sent = this.#ring.oldest;
    this.#base = this.#sent;
    this.#owed = 0;
    this.#silent = false;
    this.#completeAt = -1;
    this.#pump();
    this.#awaitFinal();
  }

  #lost(error: Error, given: boolean): void {
    const { choice, meter, clock, limits } = this.#deps;
    const former = this.#provider;
    const wasOpen = this.#connection !== null;
    this.#lastError = error;
    this.#attempt++;
    this.#connection?.close();
    this.#connection = null;
    this.#tail = noWords;
    for (const turn of this.#turns) turn.endSent = false;
    const isYoung = clock.elapsed() - this.#openSince < limits.longestRetryMs;
    if (wasOpen) this.#youngLosses = isYoung ? this.#youngLosses + 1 : 0;
    // A server may close a connection on which nothing happens; the next frame opens another. One that closes them as
    // soon as they are open has failed.
    this.#connecting = !wasOpen || this.#turns.length > 0 || this.#youngLosses > 1;
    if (!this.#connecting) return;
    this.#failedInARow++;
    meter.count('failures');
    const inARow = Math.max(this.#failedInARow, this.#youngLosses);
    if (former && (given || inARow > 1)) choice.failed(former);
    const next = choice.next();
    // Nobody else can be asked, and this server has done what it can: the turn's owner logs it.
    if (given && next === former) this.#finish(true);
    else this.#logLoss(error);
    meter.count('reconnects');
    // Servers that have all failed are not asked in turn without a pause.
    if (inARow === 1 || (next !== former && choice.isFree(next))) this.#connect();
    else this.#timers.after(retryMs(limits, inARow), () => this.#connect());
    this.#awaitFinal();
  }

  /** Once for a row of failures. */
  #logLoss(error: Error): void {
    const level = this.#failedInARow === 1 ? 'warn' : 'debug';
    this.#deps.log[level]({ err: error, server: this.#provider?.name }, 'the transcription server failed');
  }
}
