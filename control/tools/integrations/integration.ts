/** An integration: actions, and the resource that they need (contract 8.3). */
import type { JsonValue, Renderer } from '../template.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** An action's parameters: the filled-in body of the tool, or its inputs when it has no body. */
export type Params = Readonly<Record<string, JsonValue>>;

/** Of a connected resource, as given. */
export type Credentials = Readonly<Record<string, unknown>>;

export interface Integration {
  readonly key: string;
  /** Names of the members of `credentials`; null: resources are not used. */
  readonly credentials: CredentialFields | null;
  readonly actions: readonly Action[];
}

export interface CredentialFields {
  /** Whether tools require a resource. */
  readonly needed: boolean;
  /** Text members besides `base_url`. */
  readonly texts: readonly string[];
  /** Whether `base_url` is required. */
  readonly baseUrl: 'required' | 'optional';
  /** Whether `headers`, an object of texts, is allowed. */
  readonly headers: boolean;
}

interface Described {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the action's parameters. */
  readonly inputSchema: JsonSchema;
}

export type Action = Described & (ServiceAction | RestAction | SmsAction | CodeAction);

/** A request to the API of a service with known paths. */
interface ServiceAction {
  readonly kind: 'service';
  readonly request: ServiceRequest;
  /** Headers with the resource's key. */
  readonly headers: (credentials: Credentials) => Readonly<Record<string, string>>;
  /** For services that answer failures with 200: their reason; null if there is none. */
  readonly refusal?: (answer: unknown) => string | null;
}

/** The request of one action, in terms of its inputs. Omitted inputs leave out their property. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Under the resource's `base_url`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonValue | ((params: Params) => JsonValue);
}

/** A request described by the tool itself. */
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
