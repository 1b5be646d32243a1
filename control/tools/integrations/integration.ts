/** What an integration is: actions, and the resource that they need (contract 8.3). */
import type { JsonValue, Renderer } from '../template.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What an action is told: the tool's body filled in, or its inputs when it has no body. */
export type Params = Readonly<Record<string, JsonValue>>;

/** Of a connected resource, as they were given. */
export type Credentials = Readonly<Record<string, unknown>>;

export interface Integration {
  readonly key: string;
  /** Names of the members of `credentials`; null: resources are of no use. */
  readonly credentials: CredentialFields | null;
  readonly actions: readonly Action[];
}

export interface CredentialFields {
  /** Whether tools run with a resource only. */
  readonly needed: boolean;
  /** Texts besides `base_url`. */
  readonly texts: readonly string[];
  /** Whether `base_url` must be given. */
  readonly baseUrl: 'required' | 'optional';
  /** Whether `headers`, an object of texts, may be given. */
  readonly headers: boolean;
}

interface Described {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of what the action is told. */
  readonly inputSchema: JsonSchema;
}

export type Action = Described & (ServiceAction | RestAction | SmsAction | CodeAction);

/** A request to the API of a service whose paths are known. */
interface ServiceAction {
  readonly kind: 'service';
  readonly request: ServiceRequest;
  /** Headers that carry the resource's key. */
  readonly headers: (credentials: Credentials) => Readonly<Record<string, string>>;
  /** For services that answer 200 to what they refuse: their reason, null when there is none. */
  readonly refusal?: (answer: unknown) => string | null;
}

/** The request of one action, in terms of its inputs. Inputs that were not given leave their property out. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Under the resource's `base_url`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonValue | ((params: Params) => JsonValue);
}

/** A request that the tool describes itself. */
interface RestAction {
  readonly kind: 'rest';
}

interface SmsAction {
  readonly kind: 'sms';
}

interface CodeAction {
  readonly kind: 'code';
}

/** A schema with root type object. */
export function params(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: 'object', properties, required };
}

export const text = (description: string): JsonSchema => ({ type: 'string', minLength: 1, description });

/** A request with a bearer key in the `authorization` header. */
export function bearer(member: string, more: Readonly<Record<string, string>> = {}) {
  return (credentials: Credentials) => ({ authorization: `Bearer ${String(credentials[member])}`, ...more });
}

/** The body of a service's request. @throws TemplateError */
export function serviceBody({ body }: ServiceRequest, params: Params, renderer: Renderer): string | null {
  if (body === undefined) return null;
  return JSON.stringify(typeof body === 'function' ? body(params) : renderer.tree(body, 'omit'));
}
