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
 * `calling` lasts until whoever speaks to the target says that it takes the call; a warm transfer is announced in
 * it. `waiting`: the target is there, the caller has yet to be answered. `failed` leads to `over` from each state
 * before `joined` and gives the call back to its agent; `ended`, the end of the call itself, does so from everywhere.
 * `left`, the end of the target's leg, is a failure too, but not in `referring`: the dialog that is replaced ends before
 * the NOTIFY that says so (RFC 5589 section 7), and what became of the target, the peer tells.
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
 * `pause`: the agent makes room for the waiting tone. `settle`: the agent's part is over. `resume`: it is back.
 * `leave`: the peer has been handed over, the call ends. `release`: the target's leg goes with the call.
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
  // Both sides may end a transfer at the same moment; the first word stands.
  over: {},
};

/** The move that `input` causes in `state`, undefined when it has no meaning there. */
export function transferMove(state: TransferState, input: TransferInput): TransferMove | undefined {
  return moves[state][input];
}
