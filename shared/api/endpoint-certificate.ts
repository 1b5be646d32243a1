/** The TLS certificate of an endpoint of a trunk (contract 3.3). */
import { Type } from 'typebox';
import { Iso } from '#shared/api/common.ts';

const text = Type.String();

/** As the edge that probes the endpoint saw it last. */
export const EndpointCertificate = Type.Object({
  subject: Type.String({ description: 'Subject, a distinguished name' }),
  issuer: Type.String({ description: 'Issuer, a distinguished name' }),
  names: Type.Array(text, { description: 'DNS names, addresses and URIs; the first 20' }),
  valid_from: Iso('When it begins to be valid'),
  expires_at: Iso('When it expires'),
  seen_at: Iso('When an edge saw it last'),
});
