/**
 * The states of one binding at a registrar (RFC 3261 section 10.2), as data; registration.ts performs the actions.
 *
 *           start               resolved               granted
 *     idle ------> resolving ------------> registering ---------> bound <----------------+
 *      |            ^ |  ^                      |                 |   |                  | granted
 *      | start      | |  |                      | rejected        |   | refresh due,     |
 *      | later      | |  +----- flow lost ------|-----------------+   | try now          |
 *      |            | |                         |                     v       resolved   |
 *      |            | | over budget, rejected   |              re-resolving ------> refreshing
 *      |  pause over| v                         |                     |                  |
 *      +---------> waiting <--------------------+---------------------+------------------+ rejected
 *        or try now
 *
 *     `repeat` instead of `rejected`: resolving, at once
 *
 *     end:  idle, waiting, resolving --> ended
 *           bound, re-resolving --> ending --unbound, limit--> ended
 *           registering, refreshing --> closing --granted--> ending
 *                                          +--rejected, limit--> ended
 *
 *     engine lost:  closing, ending --> ended; all others --> idle
 *
 * `resolving`, `re-resolving`: the registrar is looked up, without and with a binding; nothing is sent. `closing`: the
 * binding is no longer wanted, but a REGISTER is pending: section 10.2 allows no new one before it is answered.
 */
import { ignored, type Moves, machine, to } from '#shared/state-machine.ts';

export type RegistrationPhase =
  | 'idle'
  | 'waiting'
  | 'resolving'
  | 'registering'
  | 're-resolving'
  | 'refreshing'
  | 'bound'
  | 'closing'
  | 'ending'
  | 'ended';

export type RegistrationInput =
  /** Its turn has come. `start later`: a rejection from before still applies. */
  | 'start'
  | 'start later'
  | 'pause over'
  | 'try now'
  /** Its record was changed, in another field than those that it registers with. */
  | 'record changed'
  /** The organization has had too many rejections at the registrar; or the answers to other attempts decide. */
  | 'over budget'
  | 'budget pending'
  | 'resolved'
  | 'granted'
  /** The attempt has failed. `repeat`: it began before an order to try now, so another one follows. */
  | 'rejected'
  | 'repeat'
  | 'refresh due'
  | 'check due'
  | 'flow works'
  | 'flow lost'
  | 'engine lost'
  | 'end'
  | 'unbound'
  /** The time for the end is over. */
  | 'limit';

export type RegistrationAction =
  /** Starts an attempt, if the budget allows it. `visibly`: reports it, as the binding is gone or somebody waits. */
  | 'begin'
  | 'begin visibly'
  | 'refresh'
  | 'send REGISTER'
  | 'wait'
  | 'plan retry'
  | 'count failure'
  | 'try soon'
  | 'keep order'
  | 'repeat on failure'
  | 'forget rejection'
  | 'begin to retry often'
  | 'learn binding'
  | 'schedule refresh'
  | 'send OPTIONS'
  | 'schedule check'
  | 'report over budget'
  | 'report engine lost'
  /** Calls those who wait for an outcome. */
  | 'settle'
  | 'limit end'
  | 'unregister'
  | 'finish'
  | 'confirm end';

export const registration = machine('a registration', {
  idle: {
    start: to('resolving', 'begin'),
    'start later': to('waiting', 'wait'),
    'try now': to('idle', 'keep order', 'forget rejection'),
    'record changed': to('idle', 'begin to retry often', 'forget rejection'),
    end: to('ended', 'finish'),
    ...ignored('idle', 'engine lost'),
  },
  waiting: {
    'pause over': to('resolving', 'begin'),
    'try now': to('resolving', 'keep order', 'forget rejection', 'begin visibly'),
    'record changed': to('waiting', 'begin to retry often', 'try soon'),
    'engine lost': to('idle', 'report engine lost', 'settle'),
    end: to('ended', 'finish'),
    ...ignored('waiting', 'start', 'start later'),
  },
  resolving: {
    'over budget': to('waiting', 'wait', 'report over budget', 'settle'),
    'budget pending': to('waiting', 'wait'),
    resolved: to('registering', 'send REGISTER'),
    rejected: to('waiting', 'count failure', 'plan retry', 'settle'),
    repeat: to('resolving', 'count failure', 'begin visibly'),
    'try now': to('resolving', 'keep order', 'forget rejection', 'repeat on failure'),
    'record changed': to('resolving', 'begin to retry often', 'forget rejection', 'repeat on failure'),
    'engine lost': to('idle', 'report engine lost', 'settle'),
    end: to('ended', 'finish'),
    ...ignored('resolving', 'start', 'start later'),
  },
  registering: {
    granted: to('bound', 'learn binding', 'schedule refresh', 'settle'),
    rejected: to('waiting', 'count failure', 'plan retry', 'settle'),
    repeat: to('resolving', 'count failure', 'begin visibly'),
    'try now': to('registering', 'keep order', 'forget rejection', 'repeat on failure'),
    'record changed': to('registering', 'begin to retry often', 'forget rejection', 'repeat on failure'),
    'engine lost': to('idle', 'report engine lost', 'settle'),
    end: to('closing', 'limit end'),
    ...ignored('registering', 'start', 'start later'),
  },
  're-resolving': {
    resolved: to('refreshing', 'send REGISTER'),
    rejected: to('waiting', 'count failure', 'plan retry', 'settle'),
    repeat: to('resolving', 'count failure', 'begin visibly'),
    'try now': to('re-resolving', 'keep order', 'forget rejection', 'repeat on failure'),
    'engine lost': to('idle', 'report engine lost', 'settle'),
    end: to('ending', 'limit end', 'unregister'),
    ...ignored('re-resolving', 'start', 'start later', 'record changed'),
  },
  refreshing: {
    granted: to('bound', 'learn binding', 'schedule refresh', 'settle'),
    rejected: to('waiting', 'count failure', 'plan retry', 'settle'),
    repeat: to('resolving', 'count failure', 'begin visibly'),
    'try now': to('refreshing', 'keep order', 'forget rejection', 'repeat on failure'),
    'engine lost': to('idle', 'report engine lost', 'settle'),
    end: to('closing', 'limit end'),
    ...ignored('refreshing', 'start', 'start later', 'record changed'),
  },
  bound: {
    'refresh due': to('re-resolving', 'refresh'),
    'check due': to('bound', 'send OPTIONS'),
    'flow works': to('bound', 'schedule check'),
    'flow lost': to('resolving', 'begin visibly'),
    'try now': to('re-resolving', 'keep order', 'forget rejection', 'refresh'),
    'engine lost': to('idle', 'report engine lost', 'settle'),
    end: to('ending', 'limit end', 'unregister'),
    ...ignored('bound', 'start', 'start later', 'record changed'),
  },
  closing: {
    granted: to('ending', 'learn binding', 'unregister'),
    rejected: to('ended', 'finish'),
    repeat: to('ended', 'finish'),
    'try now': to('closing', 'settle'),
    'engine lost': to('ended', 'finish'),
    limit: to('ended', 'finish'),
    ...ignored('closing', 'start', 'start later', 'record changed', 'end'),
  },
  ending: {
    unbound: to('ended', 'finish'),
    'try now': to('ending', 'settle'),
    'engine lost': to('ended', 'finish'),
    limit: to('ended', 'finish'),
    ...ignored('ending', 'start', 'start later', 'record changed', 'end'),
  },
  ended: {
    'try now': to('ended', 'settle'),
    end: to('ended', 'confirm end'),
    ...ignored('ended', 'start', 'start later', 'record changed', 'engine lost'),
  },
} satisfies Moves<RegistrationPhase, RegistrationInput, RegistrationAction>);
