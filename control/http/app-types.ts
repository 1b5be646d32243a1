import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify';
import type { KeyRole, Role } from '#shared/api/keys.ts';
import type { ApiErrorCode } from '#shared/errors.ts';

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/**
 * Who may call a route: nobody in particular, an edge, keys of this role or a higher one, or every valid key, that of an
 * operator too. Each route states it; there is no default.
 */
export type Access = 'public' | 'edge' | Role | 'any_key';

/** The client, identified by the request's key or by the session that a key began. */
export type Caller = {
  readonly keyId: string;
  /** First characters of the key, for display. */
  readonly keyPrefix: string;
  /** The session of a request with a cookie; null: the request has the key. */
  readonly sessionId: string | null;
} & (
  | {
      readonly kind: 'customer';
      readonly role: KeyRole;
      readonly orgId: string;
      readonly sipEnabled: boolean;
    }
  | { readonly kind: 'operator'; readonly role: 'operator' }
);

/** A separate limit of one route, besides the limit per key (contract 1.6). */
export interface RouteLimit {
  /** Name in `details.scope`. */
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access: Access;
    /** A session is not enough: the request must have the key itself. */
    keyItself?: boolean;
    /** Limits per organization. */
    limits?: readonly RouteLimit[];
    /** Error codes of the route besides those of every endpoint. */
    errors?: readonly ApiErrorCode[];
    /** Codes with a different status here than elsewhere (`ApiError.answeredWith`). */
    errorStatuses?: Readonly<Partial<Record<ApiErrorCode, number>>>;
    /** Authenticates a request by something other than a key; when it returns false, a key is required. */
    admits?: (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;
    /** The path itself is a secret; logs show the route instead. */
    secretPath?: boolean;
    /** An operator route that requires no key when the deployment's metrics are public. */
    openWhenPublicMetrics?: boolean;
  }
  interface FastifyRequest {
    caller: Caller | null;
    /** Asks again whether the key or session of the request works, for answers that take long; null: it has none. */
    stillAllowed: (() => Promise<boolean>) | null;
  }
}

/** The organization of the request's key. For routes with a role of an organization as access. */
export function orgOf(request: Pick<FastifyRequest, 'caller'>): string {
  if (request.caller?.kind !== 'customer') throw new Error('This route is open to customer keys only');
  return request.caller.orgId;
}
