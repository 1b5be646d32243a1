/** The life cycle of everything that a POST of the API creates: its operations, and a walk through them. */
import { expect } from 'vitest';
import type { Answer } from '../http/answer.ts';
import type { PortTest } from './porting.ts';

interface Ways {
  /** Operations as `METHOD /path`, or the reason why there is none. */
  readonly list: string;
  readonly read: string;
  readonly change: string;
  readonly delete: string;
}

const version = '/v1/pathway/{id}/version';
const resource = '/v1/integrations/{integration}/resources';
const never = 'none: a record of what happened is not changed';

/** Everything stored, by the POST that creates it. */
export const created: Readonly<Record<string, Ways>> = {
  'POST /v2/tools': usual('/v2/tools', 'POST'),
  'POST /v1/widget': usual('/v1/widget', 'PATCH'),
  'POST /v1/personas': usual('/v1/personas', 'PATCH'),
  'POST /v1/agent-testing/agents': usual('/v1/agent-testing/agents', 'PUT'),
  'POST /v1/agent-testing/scenarios': usual('/v1/agent-testing/scenarios', 'PUT'),
  'POST /v1/agent-testing/templates/{id}/clone': usual('/v1/agent-testing/scenarios', 'PUT'),
  'POST /v1/pathway/create': usual('/v1/pathway', 'POST'),
  'POST /v1/pathway/{id}/version': {
    ...usual(version, 'POST', 'version_id'),
    list: 'GET /v1/pathway/{id}/versions',
  },
  'POST /v1/integrations/{integration}/resources': usual(resource, 'PATCH', 'resource_id'),
  'POST /v1/pathway/chat/create': usual('/v1/pathway/chat', 'POST'),
  'POST /v1/personas/{id}/versions/promote': {
    list: 'GET /v1/personas/{id}/versions',
    read: 'GET /v1/personas/{id}',
    change: 'PATCH /v1/personas/{id}',
    delete: 'none: the newest 200 are kept, and all go with the persona',
  },
  'POST /v1/widget/{id}/threads': {
    list: 'GET /v1/widget/{id}/threads',
    read: 'GET /v1/widget/{id}/threads',
    change: 'POST /v1/widget/{id}/threads/{thread_id}/messages',
    delete: 'POST /v1/widget/{id}/threads/{thread_id}/end',
  },
  'POST /v1/sip/port/document': {
    ...usual('/v1/sip/port/document', 'POST', 'document_sid'),
    change: 'none: a proof is not changed, another one is uploaded',
  },
  'POST /v1/sip/port/initiate': {
    ...usual('/v1/sip/port', 'POST'),
    change: 'none: what is to be signed is not changed; it is cancelled and asked for again',
  },
  'POST /v1/sip/attach': {
    list: 'GET /v1/sip/numbers',
    read: 'GET /v1/sip',
    change: 'POST /v1/sip/update',
    delete: 'POST /v1/sip/detach',
  },
  'POST /v1/agent-testing/scenarios/{id}/run': { ...usual('/v1/agent-testing/runs', 'POST'), change: never },
  'POST /v1/agent-testing/batch-run': { ...usual('/v1/agent-testing/batches', 'POST'), change: never },
  'POST /v1/agent-testing/simulation-sets': {
    ...usual('/v1/agent-testing/simulation-sets', 'POST'),
    change: never,
  },
  'POST /v1/agent-testing/matrices': {
    list: 'GET /v1/agent-testing/matrices',
    read: 'GET /v1/agent-testing/matrices/{id}',
    change: never,
    delete: 'DELETE /v1/agent-testing/simulation-sets/{id}',
  },
  'POST /v1/agent-testing/watches': usual('/v1/agent-testing/watches', 'PUT'),
  'POST /v1/agent-testing/noises': {
    ...usual('/v1/agent-testing/noises', 'PUT'),
    change: 'none: a noise is not changed, another one is uploaded',
  },
  'POST /v1/agent-testing/watches/{id}/calls/{call_id}/scenario': usual('/v1/agent-testing/scenarios', 'PUT'),
  'POST /v1/agent-testing/loads': { ...usual('/v1/agent-testing/loads', 'POST'), change: never },
  'POST /v1/agent-testing/tornado/start': {
    list: 'GET /v1/agent-testing/tornado',
    read: 'GET /v1/agent-testing/tornado/{id}/status',
    change: never,
    delete: 'DELETE /v1/agent-testing/tornado/{id}',
  },
  'POST /v1/org/keys': {
    ...usual('/v1/org/keys', 'POST'),
    change: 'POST /v1/org/keys/{id}/rotate',
  },
  'POST /v1/session': {
    list: 'GET /v1/sessions',
    read: 'GET /v1/sessions',
    change: 'none: a session does what its key may do',
    delete: 'DELETE /v1/sessions/{id}',
  },
  'POST /v1/phone-sessions': {
    ...usual('/v1/phone-sessions', 'POST'),
    change: 'none: the edge knows a session from its credentials, which are given out already',
  },
  'POST /v1/calls/{call_id}/supervisors': {
    list: 'GET /v1/calls/{call_id}/supervisors',
    read: 'GET /v1/calls/{call_id}/supervisors',
    change: 'PATCH /v1/calls/{call_id}/supervisors/{id}',
    delete: 'DELETE /v1/calls/{call_id}/supervisors/{id}',
  },
  'POST /v1/calls': {
    list: 'GET /v1/calls',
    read: 'GET /v1/calls/{call_id}',
    change: never,
    delete: 'none: the call log is kept as RETENTION_DAYS says',
  },
  'POST /v1/sip/discover': {
    list: 'none: one at a time, forgotten after 10 minutes',
    read: 'GET /v1/sip/discover/status',
    change: never,
    delete: 'none: forgotten after 10 minutes',
  },
  'POST /v1/sip/test-call': {
    list: 'none: ten in fifteen minutes, forgotten after 24 hours',
    read: 'GET /v1/sip/test-call/status',
    change: never,
    delete: 'none: forgotten after 24 hours',
  },
};

/** POSTs that store nothing of their own. */
export const creatingNothing: Readonly<Record<string, string>> = {
  'POST /v2/tools/{id}': 'changes',
  'POST /v2/tools/{id}/run': 'runs; its log is kept as RETENTION_DAYS says',
  'POST /v1/widget/{id}/threads/{thread_id}/messages': 'of the thread',
  'POST /v1/widget/{id}/threads/{thread_id}/handoff': 'of the thread',
  'POST /v1/widget/{id}/threads/{thread_id}/end': 'of the thread',
  'POST /v1/widget/{id}/threads/{thread_id}/call': 'credentials for one call, which end with it',
  'POST /v1/widget/{id}/session': 'a thread with a token of limited time',
  'POST /v1/sip/port/sign/{token}': 'of the port request',
  'POST /v1/sip/alerts/test': 'sends',
  'POST /v1/org/recording-storage/test': 'tries',
  'POST /v1/admin/recording-storage/test': 'tries',
  'POST /v1/org/webhook-deliveries/{id}/redeliver': 'sends',
  'POST /v1/sip/update': 'changes',
  'POST /v1/sip/detach': 'deletes',
  'POST /v1/sip/register-now': 'tries',
  'POST /v1/sip/parse-destination': 'reads',
  'POST /v1/agent-testing/runs/{id}/cancel': 'ends',
  'POST /v1/agent-testing/runs/{id}/analyze': 'of the run',
  'POST /v1/agent-testing/judges/calibrate': 'answers with figures that are not kept',
  'POST /v1/agent-testing/batches/{id}/cancel': 'ends',
  'POST /v1/agent-testing/simulation-sets/{id}/cancel': 'ends',
  'POST /v1/agent-testing/loads/{id}/cancel': 'ends',
  'POST /v1/agent-testing/tornado/{id}/cancel': 'ends',
  'POST /v1/agent-testing/tornado/{id}/accept': 'a version of the pathway',
  'POST /v1/agent-testing/agents/{id}/ownership': 'of the agent',
  'POST /v1/agent-testing/agents/{id}/ownership/confirm': 'of the agent',
  'POST /v1/admin/test-agents/{id}/allow': 'of the agent',
  'POST /v1/agent-testing/scenarios/generate-from-call': 'answers with a draft that is not kept',
  'POST /v1/calls/{call_id}/stop': 'ends',
  'POST /v1/calls/{call_id}/recording/pause': 'of the call',
  'POST /v1/calls/{call_id}/recording/resume': 'of the call',
  'POST /v1/calls/{call_id}/hold': 'of the call',
  'POST /v1/calls/{call_id}/resume': 'of the call',
  'POST /v1/calls/{call_id}/park': 'of the call',
  'POST /v1/calls/{call_id}/whisper': 'of the call',
  'POST /v1/calls/{call_id}/retrieve': 'of the call',
  'POST /v1/calls/active/transfer': 'of the call',
  'POST /v1/conferences/{conference_id}/parties/{call_id}/mute': 'of the call',
  'POST /v1/conferences/{conference_id}/parties/{call_id}/unmute': 'of the call',
  'POST /v1/org/webhook-secret': 'replaces',
  'POST /v1/org/keys/{id}/rotate': 'replaces; the new key is listed with the others',
  'POST /v1/inbound/{phone_number}': 'changes',
  'POST /v1/pathway/{id}': 'changes',
  'POST /v1/pathway/{id}/version/{version_id}': 'changes',
  'POST /v1/pathway/{id}/publish': 'changes',
  'POST /v1/pathway/chat/{id}': 'of the chat',
  'POST /v1/personas/{id}/inbound/attach': 'changes',
  'POST /v1/personas/{id}/inbound/detach': 'changes',
  'POST /v1/admin/ports/{id}/status': 'changes',
};

function usual(base: string, change: 'POST' | 'PUT' | 'PATCH', id = 'id'): Ways {
  const one = `${base}/{${id}}`;
  return { list: `GET ${base}`, read: `GET ${one}`, change: `${change} ${one}`, delete: `DELETE ${one}` };
}

export type Request = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body?: object,
];

export interface Life {
  readonly create: () => Promise<Answer>;
  readonly id: (body: Answer['body']) => unknown;
  readonly list: () => string;
  readonly read: (id: string) => string;
  readonly change?: (id: string) => Request;
  readonly remove: (id: string) => readonly Request[];
  /** The error for a second one; null: there may be many. */
  readonly full: string | null;
  /** Status when reading a deleted object. */
  readonly gone?: number;
  /** A finished object stays in the list. */
  readonly keepsRecord?: boolean;
}

/** Walks through life cycles over HTTP. */
export class LifeCycles {
  readonly test: PortTest;

  constructor(test: PortTest) {
    this.test = test;
  }

  send([method, url, body]: Request): Promise<Answer> {
    return this.test.call(method, url, body === undefined ? {} : { body });
  }

  async ok(...request: Request): Promise<Answer> {
    const answer = await this.send(request);
    expect([request[1], answer.status, answer.status < 300 ? '' : answer.text]).toEqual([
      request[1],
      answer.status < 300 ? answer.status : 200,
      '',
    ]);
    return answer;
  }

  /** Creates, lists, reads, changes and deletes it, twice: its quota is free again. */
  async live({
    change,
    create,
    full,
    gone = 404,
    id: idOf,
    keepsRecord,
    list,
    read,
    remove,
  }: Life): Promise<void> {
    const make = async () => {
      const made = await create();
      expect([made.status, made.status === 200 ? '' : made.text]).toEqual([200, '']);
      return String(idOf(made.body));
    };
    const id = await make();
    if (full !== null) expect((await create()).text).toContain(full);
    expect((await this.ok('GET', list())).text).toContain(id);
    expect((await this.ok('GET', read(id))).text).toContain(id);
    const foreign = await this.test.call('GET', read(id), { key: this.test.foreignKey });
    if (foreign.status === 200) expect(foreign.text).not.toContain(id);
    else expect(foreign.status).toBe(404);
    for (const request of remove(id)) {
      const [method, url, body] = request;
      const other = await this.test.call(method, url, { key: this.test.foreignKey, ...(body && { body }) });
      expect([url, other.status]).toEqual([url, 404]);
    }
    if (change) await this.ok(...change(id));
    for (const step of remove(id)) await this.ok(...step);
    expect((await this.send(['GET', read(id)])).status).toBe(gone);
    if (!keepsRecord) {
      const { text } = await this.ok('GET', list());
      for (const form of [`"id":${id},`, `"${id}"`]) expect(text).not.toContain(form);
    }
    const again = await make();
    for (const step of remove(again)) await this.ok(...step);
  }
}

/** Kinds that the tests of their own routes take through their life cycle, and where. */
export const walkedInOwnTests: Readonly<Record<string, string>> = {
  'POST /v1/agent-testing/matrices': 'testing/runs/matrix/routes.test.ts',
  'POST /v1/agent-testing/loads': 'testing/runs/load/routes.test.ts',
  'POST /v1/agent-testing/watches': 'testing/watch/watch.test.ts',
  'POST /v1/agent-testing/noises': 'testing/noises/routes.test.ts',
  'POST /v1/agent-testing/watches/{id}/calls/{call_id}/scenario': 'testing/watch/watch.test.ts',
  'POST /v1/phone-sessions': 'phone-sessions/routes.test.ts, with an edge',
};
