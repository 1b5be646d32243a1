/** The file that the first start writes to the data folder: keys and addresses for scripts and tests. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const Bootstrap = Type.Object({
  org_id: Type.String(),
  api_key: Type.String(),
  operator_key: Type.String(),
  edge_token: Type.String(),
  control_url: Type.String(),
  sip: Type.Object({
    host: Type.String(),
    port: Type.Integer(),
    ca_cert: Type.String({ description: 'PEM text, or the path of a PEM file' }),
  }),
});
export type Bootstrap = Static<typeof Bootstrap>;

export function bootstrapFile(env: NodeJS.ProcessEnv): string {
  return join(dataFolder(env), 'bootstrap.json');
}

export function dataFolder(env: NodeJS.ProcessEnv): string {
  return resolve(env.TRUNKLINE_DATA?.trim() || 'data');
}

/** @throws Error naming the file and the problem */
export async function readBootstrap(file: string): Promise<Bootstrap> {
  const value: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (Value.Check(Bootstrap, value)) return value;
  const [first] = Value.Errors(Bootstrap, value);
  throw new Error(`${file}: ${first?.instancePath ?? ''} ${first?.message ?? 'is not as expected'}`);
}

/** The certificate of the authority, in either form used by the file. */
export async function caCertificate(bootstrap: Bootstrap): Promise<string> {
  const { ca_cert: text } = bootstrap.sip;
  return text.includes('BEGIN CERTIFICATE') ? text : readFile(text, 'utf8');
}
