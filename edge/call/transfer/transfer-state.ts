/**
 * The states of one transfer, as data. Pure: inputs in, outputs out; transfer.ts runs the outputs.
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
 * `calling` lasts until the target's agent asks to bridge, and includes the announcement of a warm transfer.
 * `waiting`: the target is there, the caller is not answered yet. `failed` leads to `over` from each state before `joined` and returns
 * the call to its agent; `ended`, the end of the call itself, does so from every state. `left`, the end of the target's
 * leg, is also a failure, but not in `referring`: the replaced dialog ends before the NOTIFY that says so (RFC 5589
 * section 7), and the peer reports the outcome.
 */
import type { Move } from '../call-state.ts';

export type TransferState = 'begun' | 'calling' | 'waiting' | 'joining' | 'referring' | 'joined' | 'over';

export type TransferInput =
  | 'call'
  | 'answer'
  | 'bridge'
  | 'joined'
  | 'refer'
  | 'handed'
  | 'move'
  | 'failed'
  | 'left'
  | 'ended';

/**
 * `pause`: the waiting tone replaces the agent. `settle`: the agent is done. `resume`: it is back.
 * `leave`: the peer was transferred, the call ends. `release`: the target's leg ends with the call.
 */
export type TransferOutput =
  | 'pause'
  | 'call'
  | 'answer'
  | 'bridge'
  | 'settle'
  | 'refer'
  | 'leave'
  | 'move'
  | 'resume'
  | 'release'
  | 'endCall';

type TransferMove = Move<TransferState, TransferOutput>;

const move = (to: TransferState, ...outputs: TransferOutput[]): TransferMove => ({ to, outputs });

const failed = move('over', 'release', 'resume');
const ended = move('over', 'release');

const moves: Record<TransferState, Partial<Record<TransferInput, TransferMove>>> = {
  begun: {
    call: move('calling', 'pause', 'call'),
    refer: move('referring', 'pause', 'refer'),
    failed: move('over'),
    ended: move('over'),
  },
  calling: {
    answer: move('waiting', 'answer'),
    bridge: move('joining', 'bridge'),
    refer: move('referring', 'refer'),
    move: move('over', 'move'),
    failed,
    left: failed,
    ended,
  },
  waiting: { bridge: move('joining', 'bridge'), failed, left: failed, ended },
  joining: { joined: move('joined', 'settle'), failed, left: failed, ended },
  referring: { handed: move('over', 'leave'), failed, ended },
  joined: { failed: move('over', 'endCall'), left: move('over', 'endCall'), ended },
  // Both sides may end a transfer at the same moment; the first input wins.
  over: {},
};

/** The transition for `input` in `state`, undefined when there is none. */
export function transferMove(state: TransferState, input: TransferInput): TransferMove | undefined {
  return moves[state][input];
}
