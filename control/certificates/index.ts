/** Certificates that the programs of one deployment make for themselves. */
export { ensureCertificates } from './files.ts';
