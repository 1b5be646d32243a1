/** Certificates that a deployment issues for its own programs. */
export { ensureCertificates } from './files.ts';
