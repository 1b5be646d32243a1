/**
 * The states of the connection to the SIP engine, as data; connect.ts performs the actions.
 *
 *     idle --connect--> connecting --connected--> up
 *                          ^   |                  |
 *              retry,      |   | lost             | lost
 *              connect     |   v                  v
 *                          +-- waiting <----------+        any --close--> closed
 */
import { ignored, type Moves, machine, to } from '#shared/state-machine.ts';

export type EngineLinkState = 'idle' | 'connecting' | 'up' | 'waiting' | 'closed';

export type EngineLinkInput =
  /** There is an engine to connect to, perhaps at another address than before. */
  | 'connect'
  /** The engine delivers requests. */
  | 'connected'
  | 'lost'
  /** The pause after a loss is over. */
  | 'retry'
  | 'close';

export type EngineLinkAction =
  | 'open'
  | 'drop'
  | 'retry later'
  | 'cancel retry'
  | 'report up'
  /** The engine was connected, and its dialogs are lost. */
  | 'report down';

export const engineLink = machine('the connection to the SIP engine', {
  idle: {
    connect: to('connecting', 'open'),
    close: to('closed'),
  },
  connecting: {
    connected: to('up', 'report up'),
    lost: to('waiting', 'drop', 'retry later'),
    close: to('closed', 'drop'),
    // The new address counts from the next attempt on.
    ...ignored('connecting', 'connect'),
  },
  up: {
    lost: to('waiting', 'drop', 'retry later', 'report down'),
    close: to('closed', 'drop'),
    ...ignored('up', 'connect'),
  },
  waiting: {
    connect: to('connecting', 'cancel retry', 'open'),
    retry: to('connecting', 'open'),
    close: to('closed', 'cancel retry'),
  },
  // What the connection still reports while it closes means nothing.
  closed: ignored('closed', 'connect', 'connected', 'lost', 'close'),
} satisfies Moves<EngineLinkState, EngineLinkInput, EngineLinkAction>);
