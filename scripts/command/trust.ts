/** Authorities of NODE_EXTRA_CA_CERTS in the settings of a service. Node reads that variable only when it starts. */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Trouble } from '../setup/trouble.mjs';

/** @param file with certificates as PEM @throws Trouble */
export function trustAuthorities(file: string): void {
  try {
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Trouble(
      `cannot trust the authorities in ${file}`,
      why,
      'correct NODE_EXTRA_CA_CERTS or the file',
    );
  }
}
