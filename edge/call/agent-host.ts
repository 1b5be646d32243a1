/** Carries out on the call what its agent asks for. */
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { CallPlan } from './call-plan.ts';
import type { Termination } from './ending.ts';
import type { Log } from './log.ts';
import type { AgentHost } from './ports/agents.ts';
import type { MediaLeg } from './ports/media.ts';
import type { TransferOrder, TransferOutcome } from './ports/transfer.ts';

/** The call, as far as its agent's requests need it. */
interface HostingCall {
  readonly plan: CallPlan;
  readonly log: Log;
  readonly media: MediaLeg | null;
  readonly answered: boolean;
  readonly termination: Termination | null;
  readonly ledger: {
    extracted: CallVariables;
    readonly closed: boolean;
    transcript(entry: TranscriptEntry): void;
    answeredBy(who: 'human' | 'voicemail' | 'unknown'): void;
  };
  readonly transfers: {
    readonly handingOver: Promise<TransferOutcome> | null;
    order(order: TransferOrder): Promise<TransferOutcome>;
  };
  end(termination: Termination): void;
}

export function agentHost(call: HostingCall): AgentHost {
  return {
    hangup: (reason) => unlessHandedOver(call, () => call.end({ code: 'agent_hangup', detail: reason })),
    sendDtmf: async (digits) => {
      if (call.answered && !call.termination) await call.media?.sendDtmf(digits);
    },
    keysPossible: () => call.media?.keys !== 'none',
    transcript: (entry) => call.ledger.transcript(entry),
    variables: (values) => {
      if (!call.ledger.closed) call.ledger.extracted = values;
    },
    transfer: (order) => call.transfers.order(order),
    join: () => call.plan.transfer?.join(),
    answeredBy: (who) => call.ledger.answeredBy(who),
    fail: (error) => {
      call.log.error({ err: error }, 'agent failed');
      const code = call.answered ? 'agent_failed' : 'agent_unavailable';
      unlessHandedOver(call, () => call.end({ code, detail: error.message }));
    },
  };
}

/** An agent that ends during a transfer does not end the call: the transfer decides. */
function unlessHandedOver({ transfers }: HostingCall, end: () => void): void {
  const outcome = transfers.handingOver;
  if (outcome === null) end();
  else void outcome.then(({ ok }) => ok || end());
}
