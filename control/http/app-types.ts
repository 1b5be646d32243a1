import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify';
import type { ApiErrorCode } from '#shared/errors.ts';

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Who may call a route; `customer` where a route says nothing. */
export type Access = 'public' | 'customer' | 'operator' | 'edge';

/** Who calls: found by the key of the request. */
export type Caller =
  | {
      readonly kind: 'customer';
      readonly keyId: string;
      /** First characters of the key, to recognise it. */
      readonly keyPrefix: string;
      readonly orgId: string;
      readonly sipEnabled: boolean;
    }
  | { readonly kind: 'operator'; readonly keyId: string; readonly keyPrefix: string };

/** A limit of its own for one route, besides that per key (contract 1.6). */
export interface RouteLimit {
  /** Name in `details.scope`. */
  readonly scope: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** Limits per organization. */
    limits?: readonly RouteLimit[];
    /** Codes that the route answers with besides those of every endpoint. */
    errors?: readonly ApiErrorCode[];
    /** Codes that come with another status here than elsewhere (`ApiError.answeredWith`). */
    errorStatuses?: Readonly<Partial<Record<ApiErrorCode, number>>>;
    /** Lets a request in by something else than a key; where it says false, a key is needed. */
    admits?: (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;
    /** The path itself opens something; logs show the route in its place. */
    secretPath?: boolean;
    /** An operator route that needs no key when the deployment makes its metrics public. */
    openWhenPublicMetrics?: boolean;
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
}

/** The organization whose customer key the request carries. For routes of access `customer`. */
export function orgOf(request: Pick<FastifyRequest, 'caller'>): string {
  if (request.caller?.kind !== 'customer') throw new Error('This route is open to customer keys only');
  return request.caller.orgId;
}
