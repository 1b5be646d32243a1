/** Answers INFO in a dialog. */
import type { DtmfEvent } from '../../call/ports/media.ts';
import { type Environment, respond } from '../srf/environment.ts';
import { warningOf } from '../srf/headers.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';
import { acceptedInInfo, readInfoKey } from './info-key.ts';

/** @param pressed receives the key; it is answered 200 also when nobody listens yet */
export function answerInfo(
  environment: Environment,
  request: SrfRequest,
  response: SrfResponse,
  pressed: (key: DtmfEvent) => void,
) {
  const read = readInfoKey(request);
  switch (read.kind) {
    case 'key':
      respond(environment, response, 200);
      return pressed(read.key);
    case 'nothing':
      return respond(environment, response, 200);
    case 'type':
      return respond(environment, response, 415, { headers: { Accept: acceptedInInfo } });
    case 'malformed':
      return respond(environment, response, 400, {
        reason: 'Malformed Key Press',
        headers: { Warning: warningOf(environment.warnAgent, read.why) },
      });
  }
}
