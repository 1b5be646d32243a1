/** The file that the first start writes to the data folder: keys and addresses for scripts and tests. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fits, integer, objectOf, type Shaped, text } from '#shared/shapes.ts';

// No TypeBox: it would take 14 MiB in the supervisor, for as long as Trunkline runs.
const bootstrapShape = objectOf(
  {
    org_id: text,
    api_key: text,
    operator_key: text,
    edge_token: text,
    control_url: text,
    sip: objectOf(
      {
        host: text,
        port: integer(),
        /** PEM text, or the path of a PEM file */
        ca_cert: text,
      },
      {},
      true,
    ),
  },
  {},
  true,
);
export type Bootstrap = Shaped<typeof bootstrapShape>;

export function bootstrapFile(env: NodeJS.ProcessEnv): string {
  return join(dataFolder(env), 'bootstrap.json');
}

export function dataFolder(env: NodeJS.ProcessEnv): string {
  return resolve(env.TRUNKLINE_DATA?.trim() || 'data');
}

/** @throws Error naming the file and the problem */
export async function readBootstrap(file: string): Promise<Bootstrap> {
  const value: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (fits(bootstrapShape, value)) return value;
  const fault = bootstrapShape.fault(value);
  throw new Error(`${file}: ${fault?.at ?? ''} ${fault?.what ?? 'is not as expected'}`);
}

/** The certificate of the authority, in either form used by the file. */
export async function caCertificate(bootstrap: Bootstrap): Promise<string> {
  const { ca_cert: certificate } = bootstrap.sip;
  return certificate.includes('BEGIN CERTIFICATE') ? certificate : readFile(certificate, 'utf8');
}
