import { LogThinning } from '#shared/log-thinning.ts';
import type { SipRequest } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import type { Context } from './context.ts';

/** Warnings about single requests, of which there may be thousands at once: each kind once a minute and source. */
export class RequestWarnings {
  readonly #context: Pick<Context, 'clock' | 'log'>;
  readonly #kinds = new Map<string, LogThinning>();

  constructor(context: Pick<Context, 'clock' | 'log'>) {
    this.#context = context;
  }

  /** @param message one of a few: it is the kind */
  warn(message: string, { remoteAddress }: Flow, { headers }: SipRequest): void {
    const { clock, log } = this.#context;
    const lines = this.#kinds.get(message) ?? new LogThinning();
    this.#kinds.set(message, lines);
    const line = lines.next(remoteAddress, clock.elapsed());
    if (line) log('warn', message, { callId: headers.get('call-id'), remoteAddress, ...line });
  }
}
