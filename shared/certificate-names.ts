/** The names that a certificate is for. */
import type { X509Certificate } from 'node:crypto';

/** Subject alternative names, else the common name. */
export function certificateNames({ subjectAltName, subject }: X509Certificate): string[] {
  if (subjectAltName !== undefined)
    return subjectAltName.split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, ''));
  const commonName = /^CN=(.+)$/m.exec(subject)?.[1];
  return commonName === undefined ? [] : [commonName];
}
