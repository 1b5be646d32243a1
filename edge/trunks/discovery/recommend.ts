/** Recommends one of the ports and transports that answered (contract 3.1). Pure. */
import type { SipTransport } from '#shared/sip-destination.ts';
import type { DiscoveryResult } from '#shared/trunk-protocol.ts';
import type { AttemptResult, Candidate } from './attempt.ts';
import { codecsOf, methodsOf, userAgentOf } from './capabilities.ts';
import { recognise } from './recognise.ts';
import type { SipResponse } from './sip-response.ts';

export interface Probed {
  readonly candidate: Candidate;
  readonly result: AttemptResult;
}

interface Answered extends Probed {
  readonly response: SipResponse;
}

const rank: Readonly<Record<SipTransport, number>> = { tls: 0, tcp: 1, udp: 2 };
const oldVersions = new Set(['SSLv3', 'TLSv1', 'TLSv1.1']);

/** TLS before TCP before UDP, then 2xx before other codes, then the shortest time; null without an answer. */
export function bestOf(probed: readonly Probed[]): Answered | null {
  const answers = probed.flatMap((one): Answered[] => {
    const { response } = one.result;
    return response ? [{ ...one, response }] : [];
  });
  return answers.toSorted(compare)[0] ?? null;
}

export function recommend(best: Answered): NonNullable<DiscoveryResult['recommended']> {
  const { candidate, result, response } = best;
  const { system, confidence, evidence } = recognise(response);
  const { port, transport } = candidate;
  const usable = transport === 'tls' && !(result.tls && oldVersions.has(result.tls.version));
  return {
    port,
    transport,
    detected_system: system,
    confidence,
    evidence: [...evidence],
    user_agent: userAgentOf(response),
    codecs: codecsOf(response),
    methods: methodsOf(response),
    usable,
    reason: reasonFor(best, usable),
  };
}

function compare(one: Answered, other: Answered): number {
  return (
    rank[one.candidate.transport] - rank[other.candidate.transport] ||
    Number(!isSuccess(one.response)) - Number(!isSuccess(other.response)) ||
    (one.result.responseTimeMs ?? 0) - (other.result.responseTimeMs ?? 0)
  );
}

function isSuccess({ status }: SipResponse): boolean {
  return status < 300;
}

/** One sentence. */
function reasonFor({ candidate, result, response }: Answered, usable: boolean): string {
  const { transport, port } = candidate;
  const answer = `answered OPTIONS with ${response.status} in ${result.responseTimeMs} ms`;
  if (transport !== 'tls') {
    return `${transport.toUpperCase()} on port ${port} ${answer}, but no TLS port did, and calls go over TLS only: enable TLS on the system.`;
  }
  if (!usable) {
    return `TLS on port ${port} ${answer}, but with ${result.tls?.version}: calls need TLS 1.2 or higher.`;
  }
  if (result.tls && !result.tls.trusted) {
    const why = result.message ?? 'Its certificate is not trusted.';
    return `TLS on port ${port} ${answer}, but calls to it will fail. ${why}`;
  }
  return `TLS on port ${port} ${answer}, and its certificate is trusted.`;
}
