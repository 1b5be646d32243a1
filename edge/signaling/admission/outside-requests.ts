/** Requests outside any dialog, and those in dialogs that are gone. */

import { allow } from '#shared/sip-methods.ts';
import { retryAfterS } from '../../call/ending.ts';
import { capabilities, respond } from '../srf/environment.ts';
import { forgetInvite, type SrfRequest, type SrfResponse } from '../srf/srf.ts';
import { countAttempt, receiveInvite } from './inbound.ts';
import type { InboundDeps } from './incoming-invite.ts';
import { sourceOf } from './source-of.ts';

/**
 * An OPTIONS from a source without a trunk counts as a quarter of an attempt: a monitor that checks us every ten
 * seconds, such as Kamailio's dispatcher, is not a scanner.
 */
const optionsWeight = 1 / 4;

/**
 * All requests in a dialog name its Call-ID and tag, and a drachtio-server takes no frame above 4,000 octets
 * (srf/frame-limit.ts).
 */
const longestRepeated = 3_000;

function isOversized({ headers }: SrfRequest): boolean {
  let length = 0;
  for (const name of ['from', 'to', 'call-id', 'cseq']) length += headers[name]?.length ?? 0;
  return length > longestRepeated;
}

export class OutsideRequests {
  readonly #deps: InboundDeps;

  constructor(deps: InboundDeps) {
    this.#deps = deps;
  }

  receive(request: SrfRequest, response: SrfResponse): void {
    // An ACK is never answered, and a request that the engine itself sent in its dialog is only a notification.
    if (request.method === 'ACK' || request.source === 'application') return;
    if (this.#isSilenced(request)) {
      this.#deps.refused('silenced');
      if (request.method === 'INVITE') forgetInvite(request);
      return;
    }
    if (isOversized(request)) {
      this.#deps.refused('oversized');
      this.#refuse(request, response, 513);
      return;
    }
    // Belongs to a call that has just ended: does not count against the source.
    if (request.stackDialogId) {
      respond(this.#deps.environment, response, 481);
      return;
    }
    if (/;\s*tag\s*=/i.test(request.headers.to ?? '')) {
      this.#refuse(request, response, 481);
      return;
    }
    this.#receiveNew(request, response);
  }

  /** An INVITE from a source that is listed or has authenticated is checked first: a number may accept it. */
  #isSilenced(request: SrfRequest): boolean {
    const routing = this.#deps.routing();
    const { source, proxied } = sourceOf(request, routing);
    if (proxied || !this.#deps.strangers.isBlocked(source)) return false;
    if (routing?.sources.knows(source)) return false;
    if (request.method !== 'INVITE') return true;
    return !routing?.sources.lists(source) && !this.#deps.digest.sources.has(source);
  }

  #receiveNew(request: SrfRequest, response: SrfResponse): void {
    switch (request.method) {
      case 'INVITE':
        receiveInvite(this.#deps, request, response);
        break;
      case 'OPTIONS':
        this.#answerOptions(request, response);
        break;
      case 'REFER':
        this.#refuse(request, response, 403, { reason: 'REFER is only supported within calls' });
        break;
      // RFC 3261 sections 9.2, 12.2.2 and 15.1.2, RFC 3262 section 3, RFC 6086 section 4.2.2: these refer to a dialog or transaction that
      // does not exist.
      case 'CANCEL':
      case 'BYE':
      case 'PRACK':
      case 'UPDATE':
      case 'NOTIFY':
      case 'INFO':
        this.#refuse(request, response, 481);
        break;
      default:
        this.#deps.refused('method');
        this.#refuse(request, response, 405, { headers: { Allow: allow } });
    }
  }

  #answerOptions(request: SrfRequest, response: SrfResponse): void {
    const routing = this.#deps.routing();
    const { draining, unrecordable } = this.#deps.calls;
    if (draining || unrecordable !== null || routing === null) {
      respond(this.#deps.environment, response, 503, { headers: { 'Retry-After': String(retryAfterS) } });
      return;
    }
    const block = countAttempt({ deps: this.#deps, ...sourceOf(request, routing), routing }, optionsWeight);
    respond(this.#deps.environment, response, 200, { headers: { ...capabilities(), ...block } });
  }

  /** Rejects a request outside calls; it counts as an attempt. */
  #refuse(
    request: SrfRequest,
    response: SrfResponse,
    status: number,
    { headers = {}, ...rest }: { readonly headers?: Record<string, string>; readonly reason?: string } = {},
  ): void {
    const routing = this.#deps.routing();
    const block = countAttempt({ deps: this.#deps, ...sourceOf(request, routing), routing });
    respond(this.#deps.environment, response, status, { ...rest, headers: { ...headers, ...block } });
  }
}
