/** Prepares one attempt of a tool, by the kind of its action. */
import { OutgoingFailure } from '#outgoing/failure.ts';
import { type OutgoingAnswer, type OutgoingParts, sendOutgoing } from '#outgoing/request.ts';
import { parsedBody } from '#shared/agent/answer-body.ts';
import { isObject } from '#shared/agent/graph-problem.ts';
import { toE164 } from '#shared/e164.ts';
import { newId } from '#shared/ids.ts';
import type { Db } from '../db/index.ts';
import type { Attempt } from './attempts.ts';
import type { CodePool, CodeWork } from './code-pool.ts';
import { fingerprint, type HttpCall, restCall, serviceCall } from './http-call.ts';
import type { Action, Credentials, Params } from './integrations/integration.ts';
import { countRefusal, pruneRefusals } from './resources-store.ts';
import { bodyTree, type ToolDraft } from './rules.ts';
import { type SentRequest, sentRequest } from './sent-request.ts';
import { type JsonValue, Renderer, type Scope, TemplateError } from './template.ts';
import { violations } from './validate.ts';

/** Sends one SMS. `sent: false` with `delivered`: there is no SMS service, so the text goes to the service log. */
export type SendSms = (
  message: { readonly id: string; readonly to: string; readonly text: string },
  signal: AbortSignal,
) => Promise<
  | { readonly outcome: 'sent'; readonly reachesPeople: boolean }
  | { readonly outcome: 'refused' | 'unavailable' }
>;

export interface PrepareParts extends OutgoingParts {
  readonly db: Db;
  /** Owner of the tool. */
  readonly orgId: string;
  readonly sendSms: SendSms;
  readonly code: CodePool;
  readonly codeLimits: { readonly cpuMs: number; readonly memoryBytes: number };
}

export interface ConnectedResource {
  readonly id: string;
  readonly credentials: Credentials | null;
}

export interface Prepared {
  /** Identifies what is sent; contains no credentials. */
  readonly fingerprint: string;
  /** What each attempt sends, without credentials; null: no HTTP request. */
  readonly request: () => SentRequest | null;
  attempt(signal: AbortSignal): Promise<Attempt>;
}

/** Most bytes read of a response (contract 8.2). */
const mostBytes = 1_048_576;
const ownSchemaMs = 100;

/** @throws TemplateError when the body cannot be filled in with these values */
export function prepare(
  parts: PrepareParts,
  draft: ToolDraft,
  action: Action,
  resource: ConnectedResource | null,
  scope: Scope,
): Prepared {
  switch (action.kind) {
    case 'rest': {
      const body = bodyTree(draft.body);
      if (!isObject(body)) throw new TemplateError('the tool has no body that describes a request');
      const call = restCall(body as Params, scope, resource?.credentials ?? null);
      return httpPrepared(parts, call, draft.timeout, resource, () => null);
    }
    case 'service': {
      const call = serviceCall(action, paramsOf(draft, action, scope), resource?.credentials ?? {});
      return httpPrepared(parts, call, draft.timeout, resource, action.refusal ?? (() => null));
    }
    case 'sms':
      return smsPrepared(parts, paramsOf(draft, action, scope));
    case 'code':
      return codePrepared(parts, draft, scope);
  }
}

/** The tool's body filled in, else its inputs; validated by the action's own schema. */
function paramsOf(draft: ToolDraft, action: Action, scope: Scope): Params {
  const body = bodyTree(draft.body);
  const filled = body === null ? scope.inputs : new Renderer(scope).tree(body);
  if (!isObject(filled)) throw new TemplateError('the body of the tool must be an object');
  const given = Object.fromEntries(Object.entries(filled).filter(([, value]) => value !== null));
  // Our own schema, without slow expressions.
  const [wrong] = violations(action.inputSchema, given, ownSchemaMs);
  if (wrong)
    throw new TemplateError(`${action.key} cannot be done: ${wrong.path || 'its body'} ${wrong.rule}`);
  return given as Record<string, JsonValue>;
}

function httpPrepared(
  parts: PrepareParts,
  call: HttpCall,
  timeoutMs: number,
  resource: ConnectedResource | null,
  refusal: (answer: unknown) => string | null,
): Prepared {
  const usesResource = call.withCredentials ? resource : null;
  return {
    fingerprint: fingerprint(call),
    request: () => sentRequest(call, usesResource?.credentials ?? null),
    attempt: async (signal) => {
      let answer: OutgoingAnswer;
      try {
        answer = await sendOutgoing(parts, { ...call, timeoutMs, mostBytes, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof OutgoingFailure)) throw error;
        return { statusCode: null, data: null, error: error.message, again: error.kind !== 'refused' };
      }
      if (usesResource && answer.status === 401) await countRefusal(parts.db, usesResource.id);
      else if (usesResource) await pruneRefusals(parts.db, usesResource.id);
      return judged(answer, refusal);
    },
  };
}

function judged(answer: OutgoingAnswer, refusal: (answer: unknown) => string | null): Attempt {
  const { status, cut } = answer;
  const text = answer.body.toString('utf8');
  const data = text === '' ? null : cut ? text : parsedBody(text);
  if (status < 200 || status > 299) {
    const again = status === 429 || status >= 500;
    return { statusCode: status, data, error: `the target answered ${status}`, again };
  }
  const refused = refusal(data);
  const error = cut
    ? `the response is larger than ${mostBytes} bytes and was cut`
    : refused === null
      ? null
      : `the target rejected the request: ${refused}`;
  return { statusCode: status, data, error, again: false };
}

function smsPrepared({ sendSms }: PrepareParts, { to, text }: Params): Prepared {
  const number = toE164(String(to));
  if (number === null) throw new TemplateError('send_sms cannot be done: /to must be a phone number');
  const message = { id: newId(), to: number, text: String(text) };
  return {
    fingerprint: JSON.stringify([number, text ?? null]),
    request: () => null,
    attempt: async (signal) => {
      const sent = await sendSms(message, signal);
      if (sent.outcome === 'sent') {
        const data = { to: number, sent: sent.reachesPeople };
        return { statusCode: null, data, error: null, again: false };
      }
      const error =
        sent.outcome === 'refused'
          ? 'the SMS service rejected the message'
          : 'the SMS service is not available';
      return { statusCode: null, data: null, error, again: sent.outcome === 'unavailable' };
    },
  };
}

function codePrepared(parts: PrepareParts, draft: ToolDraft, scope: Scope): Prepared {
  const { code: pool, codeLimits, orgId } = parts;
  const body = bodyTree(draft.body);
  const code = isObject(body) ? body.code : null;
  if (typeof code !== 'string') throw new TemplateError('the tool has no body with code');
  const work: CodeWork = {
    kind: 'code',
    code,
    input: JSON.stringify(scope.inputs),
    variables: JSON.stringify(scope.variables),
    cpuMs: Math.min(codeLimits.cpuMs, draft.timeout),
    memoryBytes: codeLimits.memoryBytes,
  };
  return {
    // The variables include the time, which must not make every run different.
    fingerprint: '',
    request: () => null,
    attempt: async (signal) => {
      const outcome = await pool.run(work, { orgId, timeoutMs: draft.timeout, signal });
      if ('value' in outcome) return { statusCode: null, data: outcome.value, error: null, again: false };
      return { statusCode: null, data: null, error: outcome.error, again: false };
    },
  };
}
