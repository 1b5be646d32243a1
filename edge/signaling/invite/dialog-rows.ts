/**
 * The end of a dialog, the same in both directions: rows of inbound-leg-state.ts and outbound-leg-state.ts.
 *
 *     leaving --BYE answered--> over
 *
 * `leaving`: our BYE is pending. The peer's requests that cross it get 481, its BYE 200, its NOTIFYs the usual answer
 * (the outcome of a REFER is often reported last).
 */
import { ignored, type Moves, to } from '#shared/state-machine.ts';

/** Inputs of a dialog. */
export type DialogInput =
  /** Orders of the call. */
  | 'bye'
  | 'refer'
  | 'ask'
  | 'renegotiate'
  /** Requests from the peer; `request`: any without an input of its own. */
  | 'ACK'
  | 'BYE'
  | 'NOTIFY'
  | 'request'
  /** A BYE that the engine itself has sent to the peer. */
  | 'engine BYE'
  /** Our BYE got its final response, or none can come. */
  | 'BYE answered'
  /** The engine no longer knows the dialog. */
  | 'forgotten'
  /** The engine is lost: nothing can be sent. */
  | 'abandoned';

export type DialogAction =
  | 'send REFER'
  /** Reports that it is too late, or too early, for a REFER. */
  | 'fail REFER'
  | 'send OPTIONS'
  /** Reports that the peer cannot be asked. */
  | 'skip OPTIONS'
  | 'renegotiate'
  | 'send BYE'
  | 'answer 200'
  | 'answer 481'
  | 'pass request'
  | 'pass NOTIFY'
  | 'report BYE'
  | 'report engine BYE'
  | 'report forgotten'
  /** Stops timers and REFERs, and removes the dialog from the list. */
  | 'release';

/** `request` and `NOTIFY` of an established dialog, and what ends it. */
export const established = {
  bye: to('leaving', 'send BYE'),
  BYE: to('over', 'release', 'report BYE', 'answer 200'),
  'engine BYE': to('over', 'release', 'report engine BYE'),
  forgotten: to('over', 'release', 'report forgotten'),
  abandoned: to('over', 'release'),
} as const;

/** What the call cannot order outside of an established dialog. */
export function notEstablished<const State extends string>(state: State) {
  return {
    refer: to(state, 'fail REFER'),
    ask: to(state, 'skip OPTIONS'),
    ...ignored(state, 'bye', 'renegotiate'),
  };
}

export const endOfDialog = {
  leaving: {
    ...notEstablished('leaving'),
    BYE: to('leaving', 'answer 200'),
    NOTIFY: to('leaving', 'pass NOTIFY'),
    request: to('leaving', 'answer 481'),
    'engine BYE': to('over', 'release'),
    'BYE answered': to('over', 'release'),
    forgotten: to('over', 'release'),
    abandoned: to('over', 'release'),
    ...ignored('leaving', 'ACK'),
  },
  over: {
    ...notEstablished('over'),
    BYE: to('over', 'answer 200'),
    NOTIFY: to('over', 'answer 481'),
    request: to('over', 'answer 481'),
    ...ignored('over', 'ACK', 'engine BYE', 'BYE answered', 'forgotten', 'abandoned'),
  },
} satisfies Moves<'leaving' | 'over', DialogInput, DialogAction>;
