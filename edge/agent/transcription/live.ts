/**
 * The transcription of one call: audio is kept until its words are settled; the next provider follows one that fails.
 *
 *     write --> [ ring: settled | sent | not sent ] --pump--> connection --> partial, settled, finished
 *
 *     [ idle ] --first frame--> [ connecting ] --> [ connected ] --lost--> [ waiting ] --> [ connecting ]
 */
import type { Timer } from '#shared/clock.ts';
import { Timers } from '#shared/timers.ts';
import { AudioSender } from './audio-sender.ts';
import { type LiveDeps, retryMs } from './live-deps.ts';
import { answerDue, forAnother, ToldWords, type Turn, turnOf } from './live-turn.ts';
import { Lull } from './lull.ts';
import { openedInTime } from './opening.ts';
import type { ProviderConnection, ProviderEvents, TranscriptionProvider } from './provider.ts';
import { Returning } from './returning.ts';
import {
  bounded,
  type HeardWords,
  joined,
  longer,
  noWords,
  type Transcription,
  type TranscriptionEvents,
  type TranscriptionOptions,
} from './transcription.ts';

export class LiveTranscription implements Transcription {
  readonly #options: TranscriptionOptions;
  readonly #events: TranscriptionEvents;
  readonly #deps: LiveDeps;
  readonly #audio: AudioSender;
  readonly #timers: Timers;
  readonly #over = new AbortController();
  readonly #lull: Lull;
  readonly #returning: Returning;
  /** The open turn, and those whose words are awaited, oldest first. */
  readonly #turns: Turn[] = [];
  #provider: TranscriptionProvider | null = null;
  #connection: ProviderConnection | null = null;
  /** Number of the connection of now: events of former ones are ignored. */
  #attempt = 0;
  #failedInARow = 0;
  #lastError: Error | null = null;
  /** Words up to here were handed over: a provider that is late must not repeat them. */
  #delivered = 0;
  /** The provider has ended a turn here on its own, and has heard nothing since; -1: it has not. */
  #completeAt = -1;
  /** Answers of this connection that were not waited for any longer. */
  #owed = 0;
  /** Turns one after the other for whose words it was not waited for any longer. */
  #lateInARow = 0;
  /** Whether nothing came since it was told the end of a turn. */
  #silent = false;
  #settled: HeardWords = noWords;
  readonly #told = new ToldWords();
  #tail: HeardWords = noWords;
  #deadline: Timer | null = null;
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
    this.#timers = new Timers(deps.clock);
    this.#audio = new AudioSender({
      sampleRate: options.sampleRate,
      limits: deps.limits,
      timers: this.#timers,
      turns: this.#turns,
      ended: (turn) => this.#ended(turn),
    });
    this.#lull = new Lull(deps.clock, this.#timers, () => this.#audio.silence());
    this.#returning = new Returning(deps.choice, deps.clock, (...of) => this.#opened(...of));
  }

  write(frame: Int16Array): void {
    if (this.#closed) return;
    this.#lull.heard();
    if (this.#audio.ring.append(frame) > 0) this.#lostAudio();
    if (!this.#connection && !this.#connecting) this.#connect();
    this.#audio.pump();
    if (this.#turns.length > 0) return;
    this.#audio.forgetSilence(this.#provider?.continuous === true);
    this.#return();
  }

  begin(lateMs = 0): void {
    if (this.#closed || this.#turns.at(-1)?.to === null) return;
    const former = this.#turns.at(-1)?.to ?? 0;
    const from = Math.max(
      this.#audio.ring.oldest,
      former,
      this.#audio.ring.end - this.#audio.samples(this.#deps.limits.leadMs + lateMs),
    );
    this.#add(from, null);
    this.#audio.pump();
  }

  end(): void {
    if (this.#closed) return;
    const open = this.#turns.at(-1);
    const at = this.#audio.ring.end;
    if (open?.to === null) {
      open.to = at;
      open.endedAt = this.#deps.clock.elapsed();
    } else
      this.#add(this.#provider?.continuous ? Math.min(at, Math.max(open?.to ?? 0, this.#delivered)) : at, at);
    // A provider that answers no turn at all, while its caller goes on talking.
    if (this.#turns.length > this.#deps.limits.maxTurns) this.#finish(true);
    this.#audio.pump();
    this.#awaitFinal();
  }

  close(): void {
    if (this.#closed) return;
    this.#over.abort(new Error('the transcription was closed'));
    this.#timers.stop();
    this.#attempt++;
    this.#returning.drop();
    this.#connection?.close();
    this.#connection = null;
    this.#audio.stop();
    this.#turns.length = 0;
    this.#audio.ring.drop(this.#audio.ring.end);
  }

  get #closed(): boolean {
    return this.#over.signal.aborted;
  }

  #add(from: number, to: number | null): void {
    this.#turns.push(turnOf(from, to, this.#deps.clock.elapsed()));
  }

  // ---------------------------------------------------------------- sending

  #ended(turn: Turn): void {
    if (this.#completeAt > turn.from) this.#finish(false);
    else {
      this.#silent = true;
      this.#connection?.end();
    }
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
      const through = this.#audio.heard(throughMs);
      if (through <= this.#delivered || this.#told.isRepeated(words.text, through)) return;
      this.#audio.ring.drop(through);
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
    const through = this.#audio.position(throughMs);
    const turn = this.#turns[0];
    // The answer for a turn that was not waited for any longer ends before this one begins.
    if (turn && turn.to !== null && turn.from < through) this.#finish(false);
    else this.#completeAt = this.#audio.heard(throughMs);
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
      this.#lateInARow = 0;
      meter.took('final', clock.elapsed() - turn.endedAt);
    }
    const words = late ? longer(turn.told, joined(this.#settled, this.#tail)) : this.#settled;
    // A turn without words shows no more than an open connection does.
    if (!late && words.text !== '' && this.#provider) choice.works(this.#provider);
    this.#settled = noWords;
    this.#tail = noWords;
    this.#completeAt = -1;
    this.#audio.ring.drop(turn.to);
    if (late && this.#lastError) this.#events.failed(this.#lastError);
    this.#awaitFinal();
    this.#events.final(words);
  }

  /** One timer: for the turn that waits longest. */
  #awaitFinal(): void {
    this.#deadline?.cancel();
    this.#deadline = null;
    const turn = this.#turns[0];
    this.#lull.watch(turn !== undefined && turn.to !== null);
    if (!turn || turn.to === null) return;
    const { clock, limits } = this.#deps;
    const connected = this.#connection && this.#provider;
    const answerer = connected && { finalWithinMs: connected.finalWithinMs, since: this.#openSince };
    const unsettledMs = ((turn.to - this.#audio.ring.oldest) * 1000) / this.#options.sampleRate;
    const left = answerDue(turn, answerer, unsettledMs, limits) - clock.elapsed();
    // What it has to tell of the turn's end waits behind all that is not read.
    const isBehind = !turn.sentAgain && this.#connection?.heldSince?.(clock.elapsed()) === true;
    this.#deadline = this.#timers.after(isBehind ? 0 : Math.max(0, left), () => this.#unanswered());
  }

  /**
   * A server that says nothing at all has failed, and so has one that sends more than is read, or is late with one turn
   * after the other: the turn is sent again on another connection, to the next server if one is free.
   */
  #unanswered(): void {
    const { choice, limits } = this.#deps;
    const [turn] = this.#turns;
    const former = this.#connection ? this.#provider : null;
    const isHeld = turn !== undefined && this.#connection?.heldSince?.(turn.endedAt) === true;
    const why = isHeld ? 'sends more than is read' : 'did not answer in time';
    const error = new Error(`the transcription server ${why}`);
    const isBehind = ++this.#lateInARow >= limits.mostLate || isHeld;
    if (turn && former && (isBehind || this.#silent)) {
      choice.failed(former);
      const next = choice.next();
      const hasOther = next !== former && choice.isFree(next);
      // What a server has to tell waits behind what it has told: a new connection begins with the present.
      if (hasOther || (isBehind && (isHeld || !this.#silent) && !turn.sentAgain)) {
        turn.sentAgain = true;
        // The more it gets, the more it sends: what is before the turn is not worth that, and large pieces are few.
        if (isHeld && !hasOther) this.#audio.catchUp(turn.from);
        this.#lost(error, false);
        return;
      }
    }
    this.#lastError ??= error;
    this.#finish(true);
  }

  // ---------------------------------------------------------------- connecting

  #connect(): void {
    const { choice, log, meter } = this.#deps;
    const provider = choice.next();
    if (this.#provider && provider !== this.#provider) {
      meter.count('fallbacks');
      log.info({ from: this.#provider.name, to: provider.name }, 'transcription continues at another server');
      this.#youngLosses = 0;
    }
    this.#provider = provider;
    this.#connecting = true;
    this.#returning.drop();
    const attempt = ++this.#attempt;
    this.#opened(provider, this.#eventsOf(attempt)).then(
      (connection) => {
        if (attempt !== this.#attempt || this.#closed) connection.close();
        else this.#connected(connection);
      },
      (error: Error) => {
        if (attempt !== this.#attempt || this.#closed) return;
        choice.failed(provider);
        this.#lost(error, false);
      },
    );
  }

  #opened(provider: TranscriptionProvider, events: ProviderEvents): Promise<ProviderConnection> {
    const { limits } = this.#deps;
    const parts = { options: this.#options, limits, timers: this.#timers, over: this.#over.signal };
    return openedInTime(provider, events, parts);
  }

  /** Back to a better server that has worked again: what is not settled is sent to it, as after a loss. */
  #return(): void {
    if (!this.#connection || !this.#provider || this.#tail.text !== '') return;
    const back = this.#returning.take(this.#provider);
    if (!back) return;
    const { log, meter } = this.#deps;
    meter.count('returns');
    log.info({ from: this.#provider.name, to: back.provider.name }, 'transcription returns to a server');
    this.#connection.close();
    this.#provider = back.provider;
    this.#youngLosses = 0;
    back.use(this.#eventsOf(++this.#attempt));
    this.#connected(back.connection);
  }

  #connected(connection: ProviderConnection): void {
    this.#connecting = false;
    this.#connection = connection;
    this.#openSince = this.#deps.clock.elapsed();
    this.#owed = 0;
    this.#lateInARow = 0;
    this.#silent = false;
    this.#completeAt = -1;
    if (this.#provider) this.#audio.use(connection, this.#provider);
    this.#awaitFinal();
  }

  #lost(error: Error, given: boolean): void {
    const { choice, meter, clock, limits, log } = this.#deps;
    const former = this.#provider;
    const wasOpen = this.#connection !== null;
    this.#lastError = error;
    this.#attempt++;
    this.#connection?.close();
    this.#connection = null;
    this.#audio.stop();
    forAnother(this.#turns, joined(this.#settled, this.#tail));
    this.#tail = noWords;
    const isYoung = clock.elapsed() - this.#openSince < limits.longestRetryMs;
    if (wasOpen) this.#youngLosses = isYoung ? this.#youngLosses + 1 : 0;
    const isUntried = former !== null && choice.isOnTrial(former);
    if (isUntried) choice.failed(former);
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
    else {
      const level = this.#failedInARow === 1 ? 'warn' : 'debug';
      log[level]({ err: error, server: former?.name }, 'the transcription server failed');
    }
    meter.count('reconnects');
    // Servers that have all failed are not asked in turn without a pause.
    if (inARow === 1 || (next !== former && choice.isFree(next))) this.#connect();
    else this.#timers.after(retryMs(limits, inARow), () => this.#connect());
    this.#awaitFinal();
  }
}
