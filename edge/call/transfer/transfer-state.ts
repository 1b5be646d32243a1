/**
 * The states of one transfer, as data; transfer.ts performs the actions.
 *
 *              call                     bridge             joined
 *     begun ----------> calling -----------------> joining --------> joined
 *       |                | |  | answer      ^                          |
 *       |                | |  +-> waiting --+ bridge                   | target gone: the call ends too
 *       |                | | refer                                     |
 *       |     refer      | +------> referring --handed--> over <-------+
 *       +----------------|----------->  |                  ^
 *                        | move         |                  |
 *                        +--------------|------------------+
 *
 * `joined` and back by `part`, `rejoin` and `joined`, over `parted` and `rejoining`: a party of the bridge is held.
 * `dropped`: the call is parked, and the target leaves. `dissolved`: while they are separated, a third party takes the call
 * and the target apart, and both go on.
 * `calling` lasts until the target's agent asks to bridge, and includes the announcement of a warm transfer.
 * `waiting`: the target is there, the caller is not answered yet. `failed` leads to `over` from each state before `joined` and returns
 * the call to its agent; `ended`, the end of the call itself, does so from every state. `left`, the end of the target's
 * leg, is also a failure, but not in `referring`: the replaced dialog ends before the NOTIFY that says so (RFC 5589
 * section 7), and the peer reports the outcome.
 */
import { ignored, type Moves, machine, to } from '#shared/state-machine.ts';

export type TransferState =
  | 'begun'
  | 'calling'
  | 'waiting'
  | 'joining'
  | 'referring'
  | 'joined'
  | 'parted'
  | 'rejoining'
  | 'over';

export type TransferInput =
  | 'call'
  | 'answer'
  | 'bridge'
  | 'joined'
  | 'part'
  | 'rejoin'
  | 'dropped'
  | 'dissolved'
  | 'refer'
  | 'handed'
  | 'move'
  | 'failed'
  | 'left'
  | 'ended';

/**
 * `pause`: the waiting tone replaces the agent. `settle`: the agent is done. `resume`: it is back.
 * `part`: the bridge opens, because one of its parties is held. `leave`: the peer was transferred, the call ends. `release`: the target's leg ends with the call.
 */
export type TransferAction =
  | 'pause'
  | 'call'
  | 'answer'
  | 'bridge'
  | 'part'
  | 'settle'
  | 'refer'
  | 'leave'
  | 'move'
  | 'resume'
  | 'release'
  | 'endCall';

const failed = to('over', 'release', 'resume');
const ended = to('over', 'release');

export const transfer = machine('a transfer', {
  begun: {
    call: to('calling', 'pause', 'call'),
    refer: to('referring', 'pause', 'refer'),
    failed: to('over'),
    ended: to('over'),
  },
  calling: {
    answer: to('waiting', 'answer'),
    bridge: to('joining', 'bridge'),
    refer: to('referring', 'refer'),
    move: to('over', 'move'),
    failed,
    left: failed,
    ended,
  },
  // An agent of the target may ask again to be joined: `answer` or `bridge`, and `refer` when the peer calls the target.
  waiting: { bridge: to('joining', 'bridge'), failed, left: failed, ended, ...ignored('waiting', 'answer') },
  joining: {
    joined: to('joined', 'settle'),
    failed,
    left: failed,
    ended,
    ...ignored('joining', 'answer', 'bridge'),
  },
  referring: { handed: to('over', 'leave'), failed, ended, ...ignored('referring', 'refer', 'left') },
  joined: {
    part: to('parted', 'part'),
    dropped: to('over', 'release'),
    failed: to('over', 'endCall'),
    left: to('over', 'endCall'),
    ended,
    ...ignored('joined', 'answer', 'bridge'),
  },
  parted: {
    rejoin: to('rejoining', 'bridge'),
    dropped: to('over', 'release'),
    dissolved: to('over'),
    failed: to('over', 'endCall'),
    left: to('over', 'endCall'),
    ended,
    ...ignored('parted', 'answer', 'bridge'),
  },
  rejoining: {
    joined: to('joined'),
    failed: to('over', 'endCall'),
    left: to('over', 'endCall'),
    ended,
    ...ignored('rejoining', 'answer', 'bridge'),
  },
  // Both sides may end a transfer at the same moment; the first input wins.
  over: ignored('over', 'answer', 'bridge', 'refer', 'handed', 'move', 'failed', 'left', 'ended'),
} satisfies Moves<TransferState, TransferInput, TransferAction>);
