/** The TLS certificate of an endpoint of a trunk (contract 3.3). */
import { Type } from 'typebox';
import { Iso } from '#shared/api/common.ts';

const text = Type.String();

/** As the edge that probes the endpoint saw it last. */
export const EndpointCertificate = Type.Object({
  subject: text,
  issuer: text,
  names: Type.Array(text, { description: 'DNS names, addresses and URIs; the first 20' }),
  valid_from: Iso(),
  expires_at: Iso(),
  seen_at: Iso(),
});
