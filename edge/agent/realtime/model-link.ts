/**
 * The session of a call with its model, over as many connections as it needs: a lost one is replaced for a while, and one
 * that will end soon before it ends. The conversation so far goes with it.
 *
 *     [ idle ] --connect--> [ opening ] --ready--> [ live ] --lost--> [ retrying ] --reconnectForMs--> [ given up ]
 *                               | fails              |  ^                  |
 *                               v                    |  +------ready-------+     renew: the next is opened while the
 *                           [ closed ] <----close----+                           old one goes on
 */
import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import type { ResolveHost } from '#shared/judged-lookup.ts';
import { Timers } from '#shared/timers.ts';
import type { Log } from '../../call/log.ts';
import { parsedMessage } from '../json-message.ts';
import { Seldom } from '../seldom.ts';
import {
  openSpeechSocket,
  placeOf,
  type SpeechServer,
  type SpeechSocket,
  withoutKey,
} from '../speech-socket.ts';
import { AnswerDue, type FirstWords } from './answer-due.ts';
import { bounded } from './bounded-events.ts';
import type { ModelProtocol, ModelSession, SessionEvents, SessionOptions } from './model-session.ts';

export interface ModelLinkLimits {
  /** time for a connection to open and the server to accept the session, ms */
  readonly openTimeoutMs: number;
  /** time after which a lost session is given up, ms */
  readonly reconnectForMs: number;
  readonly firstRetryMs: number;
  /** time for the first sound of an answer, ms; a model that is asked to begin is then asked by another session, once */
  readonly beginsWithinMs: number;
  /** audio that the server may leave unread, octets; further audio of the caller is dropped */
  readonly maxUnreadBytes: number;
  /** what the server may leave unread in all, octets; beyond it the session is lost */
  readonly maxUntoldBytes: number;
  /** age of a session at which it is renewed because its server will end it, ms; a younger one is lost when it ends */
  readonly youngestMs: number;
}

/** Maximum size of a message, octets: four seconds of sound at 24 kHz as base64; servers send a fraction of a second. */
const maxMessageBytes = 262_144;

export interface ModelLinkDeps {
  readonly protocol: ModelProtocol;
  readonly server: SpeechServer;
  readonly allowed: () => BlockList;
  readonly resolve: ResolveHost;
  readonly ca: string | string[] | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: ModelLinkLimits;
  /** Called each time the server is held back because it sends more than is read. */
  readonly held?: (() => void) | undefined;
  /** For the next connection. */
  readonly options: () => Omit<SessionOptions, 'resumption' | 'sampleRate'>;
}

export interface ModelLinkEvents
  extends Omit<SessionEvents, 'send' | 'ready' | 'ending' | 'problem' | 'failed'> {
  /** A session has begun, the first or another one; answers of the former one are not continued. */
  begun(sampleRate: 8000 | 16000): void;
  lost(): void;
  /** No session could be had in time. */
  givenUp(why: string): void;
}

interface Live {
  /** Stands before the names of its answers. */
  readonly prefix: string;
  readonly session: ModelSession;
  readonly socket: SpeechSocket;
}

export class ModelLink {
  readonly #deps: ModelLinkDeps;
  readonly #events: ModelLinkEvents;
  readonly #timers: Timers;
  readonly #over = new AbortController();
  #live: Live | null = null;
  /** By which the next connection continues the session. */
  #resumption: string | null = null;
  #opening = false;
  /** Of the first session; the call keeps it. */
  #sampleRate: 8000 | 16000 | null = null;
  #liveSince = 0;
  /** Pause before the last attempt. */
  #pauseMs = 0;
  readonly #due: AnswerDue;
  readonly #problems: Seldom;
  readonly #endings: Seldom;
  readonly #holds: Seldom;
  readonly #silences: Seldom;
  /** When the session that was lost last is given up. */
  #deadline = 0;
  /** Sessions so far: their answers may have the same names. */
  #sessions = 0;
  /** 20 ms frames of the caller that were dropped because the server did not read. */
  dropped = 0;

  constructor(deps: ModelLinkDeps, events: ModelLinkEvents) {
    this.#deps = deps;
    this.#events = events;
    this.#timers = new Timers(deps.clock);
    const { limits, log, clock } = deps;
    this.#problems = new Seldom(clock);
    this.#endings = new Seldom(clock);
    this.#holds = new Seldom(clock);
    this.#silences = new Seldom(clock);
    this.#due = new AnswerDue({
      timers: this.#timers,
      withinMs: limits.beginsWithinMs,
      silent: (session) => {
        const why = `said nothing for ${limits.beginsWithinMs} ms`;
        this.#lost(session, this.#live?.socket.whySilent(this.#liveSince, why) ?? why);
      },
      unanswered: () =>
        this.#silences.log((times) => log.warn({ times }, 'the model has not answered the caller')),
    });
  }

  /** null while there is none */
  get session(): ModelSession | null {
    return this.#live?.session ?? null;
  }

  /** Opens the first session. Rejects when that fails, without a retry. */
  async connect(): Promise<void> {
    try {
      await this.#attempt(this.#deps.limits.openTimeoutMs);
      if (!this.#live) throw new Error(`${placeOf(this.#deps.server.url)} ended the session at once`);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  audio(frame: Int16Array): void {
    if (!this.#live) return;
    if (this.#live.socket.bufferedBytes <= this.#deps.limits.maxUnreadBytes) this.#live.session.audio(frame);
    else if (this.dropped++ % 50 === 0) {
      this.#deps.log.warn(
        { dropped_frames: this.dropped },
        'the model server does not read, audio is dropped',
      );
    }
  }

  /** Tells the session of the answer what was heard of it; one that has ended does not need to know. */
  cut(item: string, ms: number): void {
    const { prefix, session } = this.#live ?? {};
    if (prefix !== undefined && item.startsWith(prefix)) session?.cut(item.slice(prefix.length), ms);
  }

  /** Opens the next session while this one goes on. */
  renew(why: string): void {
    if (!this.#live || this.#opening || this.#over.signal.aborted) return;
    this.#deps.log.info({ why }, 'renewing the session with the model');
    this.#attempt(this.#deps.limits.openTimeoutMs).catch((error: unknown) =>
      // The session that is there goes on; when it ends, it is lost like any other.
      this.#deps.log.warn({ err: error }, 'the session with the model was not renewed'),
    );
  }

  /** Safe to call twice. */
  close(): void {
    this.#over.abort(new Error('the call ended'));
    this.#timers.stop();
    this.#live?.session.end();
    this.#live?.socket.close(null);
    this.#live = null;
  }

  /** The call begins. @param first what the model begins with; null: nothing */
  start(first: FirstWords | null): void {
    this.#due.start(first);
  }

  /** Tells the model what happened on the call. */
  tell(text: string): void {
    this.#due.tell(text);
  }

  // ---------------------------------------------------------------- opening

  /** Resolves when the server has accepted a session. What it says in the same moment is already heard with it. */
  async #attempt(timeoutMs: number): Promise<void> {
    const { server, clock, ca, protocol, allowed, resolve } = this.#deps;
    const limit = new AbortController();
    const timer = this.#timers.after(timeoutMs, () => {
      limit.abort(new Error(`${placeOf(server.url)} did not accept a session within ${timeoutMs} ms`));
    });
    const signal = AbortSignal.any([limit.signal, this.#over.signal]);
    const headers = server.apiKey === null ? {} : protocol.headers(server.apiKey);
    const guard = { allowed: allowed(), resolve };
    const deps = { clock, ca, guard, maxMessageBytes, held: () => this.#held() };
    let socket: SpeechSocket | null = null;
    const former = this.#live;
    this.#opening = true;
    try {
      await new Promise<void>((accepted, reject) => {
        const aborted = () => reject(signal.reason);
        signal.addEventListener('abort', aborted, { once: true });
        const prefix = `${this.#sessions++} `;
        const session: ModelSession = this.#session(
          prefix,
          (message) => {
            const waiting = socket?.bufferedBytes ?? 0;
            if (waiting <= this.#deps.limits.maxUntoldBytes) socket?.send(message);
            else
              this.#lost(
                session,
                `${placeOf(server.url)} does not read: ${counted(waiting, 'octet')} of answers are unread`,
              );
          },
          () => {
            if (!socket || signal.aborted) return;
            // Of a renewal and a retry the one stays that is accepted first.
            if (this.#live === null || this.#live === former) this.#replace({ prefix, session, socket });
            else socket.close(null);
            accepted();
          },
          (why) =>
            reject(new Error(`${placeOf(server.url)} rejected the session: ${withoutKey(why, server)}`)),
        );
        const events = {
          opened: (opened: SpeechSocket) => {
            socket = opened;
            session.opened();
          },
          text: (message: string) => session.receive(parsedMessage(message)),
          // Some servers send their JSON in binary messages.
          binary: (octets: Buffer) => session.receive(parsedMessage(octets.toString('utf8'))),
          lost: (why: string) => {
            reject(new Error(why));
            this.#lost(session, why);
          },
          idle: () => undefined,
        };
        openSpeechSocket(server, protocol.url(server), headers, deps, events, signal).catch(reject);
      });
    } catch (error) {
      // Of an attempt that failed after the socket was open.
      (socket as SpeechSocket | null)?.close(null);
      throw error;
    } finally {
      this.#opening = false;
      timer.cancel();
    }
  }

  /** A session whose events count only while it is the live one. */
  #session(
    prefix: string,
    send: (message: string) => void,
    ready: () => void,
    refused: (why: string) => void,
  ): ModelSession {
    const { protocol, server, options } = this.#deps;
    const events = this.#events;
    let isReady = false;
    let tellsStops = false;
    const isLive = () => this.#live?.session === session;
    const answers = () => {
      if (isLive()) this.#due.answered();
      return isLive();
    };
    const callerSpeaks = () => {
      if (isLive()) this.#due.callerSpeaks();
      return isLive();
    };
    const session: ModelSession = protocol.session(
      server,
      {
        ...options(),
        // What is said while it opens, it is told too.
        get history() {
          return options().history;
        },
        resumption: this.#live?.session.resumption ?? this.#resumption,
        sampleRate: this.#sampleRate,
      },
      bounded({
        send,
        ready: () => {
          isReady = true;
          ready();
        },
        room: (item) => isLive() && events.room(prefix + item),
        sound: (item, samples) => answers() && events.sound(prefix + item, samples),
        soundOver: (item) => isLive() && events.soundOver(prefix + item),
        words: (item, more) => answers() && events.words(prefix + item, more),
        said: (item, text) => answers() && events.said(prefix + item, text),
        heard: (text) => {
          if (!callerSpeaks()) return;
          // Where the server tells the end of a turn its words may come after the answer has begun.
          if (!tellsStops && text !== '') this.#due.callerWaits();
          events.heard(text);
        },
        interrupted: () => callerSpeaks() && events.interrupted(),
        stopped: () => {
          if (!isLive()) return;
          tellsStops = true;
          this.#due.callerWaits();
          events.stopped();
        },
        tool: (call) => answers() && events.tool(call),
        toolCancelled: (id) => isLive() && events.toolCancelled(id),
        ending: (why) => isLive() && this.#ending(why),
        problem: (why) => {
          const problem = withoutKey(why, server);
          const words = 'a problem in the session with the model';
          this.#problems.log((times) => this.#deps.log.warn({ problem, ...(times > 1 && { times }) }, words));
        },
        failed: (why) => {
          if (!isReady) refused(why);
          else this.#lost(session, `${placeOf(server.url)} ended the session: ${withoutKey(why, server)}`);
        },
      }),
    );
    return session;
  }

  /** Else a server that ends sessions as soon as they have begun would be connected to as fast as it can. */
  #ending(why: string): void {
    const { clock, limits, log } = this.#deps;
    if (clock.elapsed() - this.#liveSince >= limits.youngestMs) this.renew(why);
    else this.#endings.log(() => log.warn({ why }, 'the model server ends a session that has just begun'));
  }

  #held(): void {
    const { held = () => {}, log } = this.#deps;
    held();
    this.#holds.log((times) =>
      log.info({ times }, 'the model server is held back: it sends more than is read'),
    );
  }

  #replace(live: Live): void {
    this.#live?.session.end();
    this.#live?.socket.close(null);
    this.#live = live;
    this.#liveSince = this.#deps.clock.elapsed();
    this.#sampleRate ??= live.session.sampleRate;
    this.#events.begun(this.#sampleRate);
    this.#due.live(live.session);
  }

  // ---------------------------------------------------------------- lost

  #lost(session: ModelSession, why: string): void {
    if (this.#live?.session !== session) return;
    const { log, clock, limits } = this.#deps;
    this.#resumption = session.resumption;
    session.end();
    this.#live.socket.close(null);
    this.#live = null;
    this.#due.live(null);
    log.warn({ why }, 'the session with the model was lost, reconnecting');
    this.#events.lost();
    // A server that accepts sessions and loses them at once gets no more time than one that is away.
    const now = clock.elapsed();
    const wasStable = this.#deadline === 0 || now - this.#liveSince >= limits.reconnectForMs;
    if (wasStable) this.#deadline = now + limits.reconnectForMs;
    if (this.#due.silences > 1) this.#deadline = now;
    this.#retry(why, wasStable ? limits.firstRetryMs : this.#pauseMs * 2);
  }

  #retry(why: string, delayMs: number): void {
    // A renewal that was under way may have succeeded.
    if (this.#over.signal.aborted || this.#live) return;
    const { clock, limits, log } = this.#deps;
    const left = this.#deadline - clock.elapsed();
    if (left <= 0) {
      this.#events.givenUp(why);
      return;
    }
    this.#pauseMs = delayMs;
    this.#timers.after(Math.min(delayMs, left), () => {
      const remaining = this.#deadline - clock.elapsed();
      if (remaining <= 0 || this.#live) {
        this.#retry(why, delayMs);
        return;
      }
      this.#attempt(Math.min(limits.openTimeoutMs, remaining)).catch((error: unknown) => {
        log.info({ err: error }, 'the model server cannot be reached');
        // The server may have forgotten the session: the next one is told the conversation instead.
        this.#resumption = null;
        this.#retry(why, delayMs * 2);
      });
    });
  }
}
