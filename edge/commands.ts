/** Commands from control to an edge. */
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { DiscoveryResult } from '#shared/trunk-protocol.ts';
import type { TestRunOrder } from './agent-tests.ts';
import type { OutboundPlan } from './call/call-plan.ts';
import type { ParkOrder } from './call/ports/park.ts';
import type { ByeExtras } from './call/ports/signaling.ts';
import type { TransferOrder } from './call/ports/transfer.ts';
import type { Supervisions } from './call/supervision/supervisions.ts';
import type { PhoneAgent } from './signaling/admission/phone/phone-agents.ts';
import type { TestCallOrder } from './trunks/test-call/test-call.ts';

export interface CommandTargets {
  readonly calls: {
    stop(callId: string, bye: ByeExtras): void;
    place(plan: OutboundPlan): unknown;
    transfer(callId: string, order: TransferOrder): unknown;
    record(callId: string, action: 'pause' | 'resume'): void;
    hold(callId: string, action: 'hold' | 'resume'): void;
    park(callId: string, order: ParkOrder): void;
    /** Rejects when they cannot be joined. */
    retrieve(callId: string, by: string | null): Promise<unknown>;
    readonly supervisions: Pick<Supervisions, 'change' | 'whisper'>;
    readonly conferences: { control(callId: string, action: 'mute' | 'unmute' | 'remove'): void };
  };
  readonly trunks: {
    failBack(trunkId: string): void;
    discover(query: Pick<Discovery, 'host' | 'port' | 'transport'>): Promise<DiscoveryResult>;
  };
  readonly signaling: { register(trunkId: string, orderId: string): void };
  /** Throws when there are too many. */
  readonly phoneAgents: { expect(agent: PhoneAgent): void };
  testCall(order: TestCallOrder): void;
  /** Rejects when the call cannot be placed. */
  testRun(order: TestRunOrder): Promise<void>;
  report(body: ReportBody): void;
}

type Discovery = Extract<EdgeCommand, { kind: 'discovery.run' }>;

/**
 * Executes a command. Resolves when it is accepted: the outcome of a call, a test call or a discovery is reported.
 * @throws Error when the command cannot be executed
 */
export async function carryOut(command: EdgeCommand, targets: CommandTargets): Promise<void> {
  const { calls, trunks, signaling, report } = targets;
  switch (command.kind) {
    case 'call.stop': {
      const { cause, headers } = command;
      const q850 = cause === undefined ? {} : { q850: cause };
      calls.stop(command.call_id, { ...q850, ...(headers && { headers }) });
      break;
    }
    case 'call.place':
      calls.place({
        callId: command.call_id,
        orgId: command.org_id,
        from: command.number,
        to: command.to,
        agent: command.agent,
        variables: command.variables,
        precallDtmf: command.precall_dtmf,
        voicemail: command.voicemail,
      });
      break;
    case 'phone.agent':
      targets.phoneAgents.expect(command);
      break;
    case 'call.transfer': {
      const { target, method, announcement, accept_key: acceptKey } = command;
      const consult = announcement === null && acceptKey === null ? null : { announcement, acceptKey };
      await calls.transfer(command.call_id, { target, method, consult });
      break;
    }
    case 'call.recording':
      calls.record(command.call_id, command.action);
      break;
    case 'call.hold':
      calls.hold(command.call_id, command.action);
      break;
    case 'call.park': {
      const { slot, timeout_s, on_timeout: atEnd } = command;
      calls.park(command.call_id, { slot, timeoutMs: timeout_s * 1000, atEnd });
      break;
    }
    case 'call.retrieve':
      await calls.retrieve(command.call_id, command.by_call_id);
      break;
    case 'call.conference':
      calls.conferences.control(command.call_id, command.action);
      break;
    case 'supervise.mode':
      calls.supervisions.change(command.call_id, command.session_id, command.mode, command.note);
      break;
    case 'supervise.whisper':
      await calls.supervisions.whisper(command.call_id, command.text);
      break;
    case 'trunk.failback':
      trunks.failBack(command.trunk_id);
      break;
    case 'registration.try':
      signaling.register(command.trunk_id, command.order_id);
      break;
    case 'discovery.run':
      void trunks.discover(command).then((result) => {
        report({ type: 'discovery', discovery_id: command.discovery_id, result });
      });
      break;
    case 'test_call.run':
      targets.testCall(command);
      break;
    case 'agent_test.call':
      await targets.testRun(command);
      break;
  }
}
