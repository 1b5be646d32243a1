/** What an error of drachtio-srf means: it passes the engine's reason on as text, and has texts of its own. */
import { type ConnectionFailure, connectionFailure } from '#shared/connection-faults.ts';
import { type FrameRefusal, frameRefusals } from '#shared/engine-protocol/refusals.ts';

/** Why a request was not sent: a fault on our side, not the peer's. */
export class NoEngine extends Error {
  override readonly name = 'NoEngine';

  constructor() {
    super('the SIP engine is not connected');
  }
}

export interface EngineError {
  /** `no_engine`: there is no connection to one. `rejected`: for another reason, which `text` says. */
  readonly kind: 'no_engine' | FrameRefusal | 'rejected';
  readonly text: string;
}

/**
 * Texts of drachtio-srf for a connection to the engine that is gone: "provided socket has been destroyed", "socket
 * connection closed", "cannot call app#request in unconnected state".
 */
const unconnected = /destroyed|socket|unconnected/i;

/** @param error of drachtio-srf: an Error, or the reason itself */
export function engineError(error: unknown): EngineError {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof NoEngine) return { kind: 'no_engine', text };
  if (error instanceof Error && 'code' in error && error.code === 'ENODIALOG')
    return { kind: 'unknownDialog', text };
  for (const [kind, reason] of Object.entries(frameRefusals) as [FrameRefusal, string][]) {
    if (text.includes(reason)) return { kind, text };
  }
  return { kind: unconnected.test(text) ? 'no_engine' : 'rejected', text };
}

/** Why a request that an engine did not send reaches no peer. */
export function notSentFailure({ kind, text }: EngineError): ConnectionFailure {
  return connectionFailure(kind === 'ownAddress' ? 'own_address' : 'unknown', text);
}
