/** Signaling with the settings of this edge. */
import { join } from 'node:path';
import { keyOfFile, SecretBox } from '#shared/secret-box.ts';
import type { AgentTestCalls } from '../call/agent-test-calls.ts';
import type { Calls } from '../call/calls.ts';
import { hostPort } from '../local-address.ts';
import type { Reporting } from '../reporting/reporting.ts';
import type { PhoneAgents } from '../signaling/admission/phone/phone-agents.ts';
import { resolveSource } from '../signaling/admission/source-hosts.ts';
import type { RefusalStore } from '../signaling/registration/refused-registrations.ts';
import { Signaling } from '../signaling/signaling.ts';
import type { Trunks } from '../trunks/trunks.ts';
import { clock, type EdgeContext } from './context.ts';
import type { EdgeFleet } from './fleet.ts';

interface SignalingParts {
  readonly calls: Calls;
  readonly agentTestCalls: AgentTestCalls;
  readonly reporting: Reporting;
  /** A function, because trunks are created after signaling. */
  readonly trunks: () => Trunks;
  readonly fleet: EdgeFleet;
  readonly refusals: RefusalStore;
  readonly phoneAgents: PhoneAgents;
  /** Called when the engine is up (again) or lost. */
  readonly engineUp: (up: boolean) => void;
}

export function signalingOf(context: EdgeContext, parts: SignalingParts): Signaling {
  const { settings, limits, log, software, metrics, current } = context;
  const { calls, agentTestCalls, reporting, trunks, fleet, refusals, engineUp, phoneAgents } = parts;
  const { sip } = settings;
  const names = new SecretBox(settings.secretKey ?? keyOfFile(join(settings.dataDir, 'edge-secret.key')));
  return new Signaling({
    clock,
    log,
    calls,
    publicAddress: sip.publicHost === null ? null : hostPort(sip.publicHost, sip.port),
    software,
    session: limits.session,
    refers: limits.refers,
    countRefer: (from, outcome) => metrics.count('trunkline_edge_refers_total', { from, outcome }),
    strangers: limits.strangers,
    agentTestCalls,
    refused: (reason) => metrics.count('trunkline_edge_refused_total', { reason }),
    refusedInvites: {
      isReady: () => reporting.takesRefused,
      report: (invites) => reporting.report({ type: 'refused', refused: invites }),
    },
    engineUp,
    resolve: (host) => sourceAddresses(host, trunks()),
    phones: {
      edgeId: reporting.edgeId,
      phonesOf: (orgId) => current.organization(orgId)?.phones,
      agentOf: (sessionId) => phoneAgents.find(sessionId),
    },
    registrars: {
      resolve: (host, port) => trunks().resolve(host, port),
      report: (trunkId, state, orderId) =>
        reporting.report({
          type: 'registration',
          trunk_id: trunkId,
          ...(orderId !== undefined && { order_id: orderId }),
          ...(fleet.view.epoch !== null && { epoch: fleet.view.epoch }),
          ...state,
        }),
      settings: limits.registration,
      fleet: fleet.registrations,
      refusals,
      nameOf: (key) => names.derive(`registration ${key}`).toString('base64url'),
    },
  });
}

/** Source addresses of a trunk's host: from the system resolver, and those used for calls to it. */
async function sourceAddresses(host: string, trunks: Trunks): Promise<string[]> {
  const system = trunks.sipsTargets(host).then((targets) => resolveSource(host, targets));
  const [known, used] = await Promise.allSettled([system, trunks.resolve(host, null)]);
  const addresses = new Set(known.status === 'fulfilled' ? known.value : []);
  if (used.status === 'fulfilled' && used.value.ok) {
    for (const { address } of used.value.targets) addresses.add(address);
  }
  if (addresses.size === 0 && known.status === 'rejected') throw known.reason;
  return [...addresses].sort();
}
