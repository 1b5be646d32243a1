/** What the configuration of a PBX is made from, and what it is made of. */

/** How calls of a number are authenticated. */
export type PbxAccess =
  /** By the address of the PBX. */
  | { readonly how: 'address' }
  /** The PBX answers the challenge of the edge. */
  | { readonly how: 'digest'; readonly username: string; readonly realm: string }
  /** The edge registers at the PBX. */
  | { readonly how: 'register'; readonly username: string };

export interface PbxFacts {
  /** Where the PBX sends calls: the edge. */
  readonly server: string;
  readonly port: number;
  readonly codecs: readonly string[];
  /** From which the edge calls the PBX. */
  readonly addresses: readonly string[];
  /** The attached number; null: none yet. */
  readonly number: string | null;
  readonly access: PbxAccess;
}

/** One file of a PBX. */
export interface PbxFile {
  /** Where it belongs. */
  readonly path: string;
  readonly text: string;
}

/** What stands where only the reader knows what. */
export const passwordToFill = 'THE-PASSWORD-THAT-YOU-SET';

/** A string of a configuration language of Kamailio or OpenSIPS, in double quotes. */
export const quoted = (value: string): string => `"${value.replace(/[\\"]/g, '\\$&')}"`;

/** @param credentials of the answer to `GET /v1/sip/outbound-setup`; a registration has no realm */
export function accessOf(
  credentials: { readonly username: string; readonly realm: string | null } | undefined,
): PbxAccess {
  if (!credentials) return { how: 'address' };
  const { username, realm } = credentials;
  return realm === null ? { how: 'register', username } : { how: 'digest', username, realm };
}
