/** An agent between whose sound and the call something is put. */
import type { AgentLeg } from '../../call/ports/agents.ts';

/** @param own in place of the agent's; it calls that */
export function tappedLeg(leg: AgentLeg, own: Partial<Pick<AgentLeg, 'read' | 'write' | 'close'>>): AgentLeg {
  return {
    // A model's is known once it is prepared.
    get sampleRate() {
      return leg.sampleRate;
    },
    read: (frame) => leg.read(frame),
    ...(leg.write && { write: (frame) => leg.write?.(frame) }),
    dtmf: (event) => leg.dtmf?.(event),
    prepare: () => leg.prepare(),
    start: () => leg.start(),
    ...(leg.instruct && { instruct: (text) => leg.instruct?.(text) }),
    close: (reason) => leg.close(reason),
    lastWords: async () => leg.lastWords?.(),
    ...own,
  };
}
