/**
 * Why a PostgreSQL server could not be used, for the person who starts a program or a command: what, where, what to do.
 * Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html
 */

interface Advice {
  readonly codes: RegExp;
  readonly what: string;
  readonly advice: string;
}

/** The first that fits counts; what fits none is a fault of the program. */
const advices: readonly Advice[] = [
  {
    codes: /^28(?:000|P01)$/,
    what: 'rejects the user',
    advice:
      'Correct user and password in the URL (DATABASE_URL), or allow the user, this address and its use of TLS in pg_hba.conf of the server.',
  },
  {
    codes: /^3D000$/,
    what: 'does not have the database',
    advice: 'Create it, with its user as the owner, or correct its name in the URL (DATABASE_URL).',
  },
  {
    codes: /^42501$/,
    what: 'does not let the user do this',
    advice: 'Make the user of the URL (DATABASE_URL) the owner of the database.',
  },
  {
    codes: /^25006$/,
    what: 'takes no writes',
    advice:
      'It is a standby, or default_transaction_read_only is set: name the primary server in the URL (DATABASE_URL).',
  },
  { codes: /^53100$/, what: 'has no room on its disk', advice: 'Free some space there, then try again.' },
  {
    codes: /^53300$/,
    what: 'has no free connection',
    advice:
      'Each control plane opens up to 12 and needs 3: raise max_connections of the server, or the CONNECTION LIMIT of the user or the database, or end other clients.',
  },
  {
    codes: /^57P0[1-3]$/,
    what: 'is starting or stopping',
    advice: 'Try again when it accepts connections; its log says what it waits for.',
  },
  {
    codes: /^DATABASE_UNREACHABLE$/,
    what: 'cannot be reached',
    advice:
      'Check host, port and sslmode of the URL (DATABASE_URL), that the server runs and listens on that address, and the firewalls between.',
  },
];

/** The server that an error is about: an address without password. */
const about = new WeakMap<Error, string>();

/** Notes the server that caused an error. Returns the error. */
export function ofServer<Thrown>(error: Thrown, server: string): Thrown {
  if (error instanceof Error && !about.has(error)) about.set(error, server);
  return error;
}

/** null: no PostgreSQL server is the cause, or it is a fault of the program. */
export function serverWords(error: unknown): string | null {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < 6; at = at.cause) chain.push(at);
  const server = chain.map((one) => about.get(one)).find((name) => name !== undefined);
  if (server === undefined) return null;
  const codes = chain.map((one) => ('code' in one && typeof one.code === 'string' ? one.code : ''));
  for (const { codes: known, what, advice } of advices) {
    const index = codes.findIndex((code) => known.test(code));
    if (index < 0) continue;
    // What made the server count as unreachable says more; of several addresses that were tried, it has no message.
    const at = codes[index] === 'DATABASE_UNREACHABLE' && chain[index + 1] ? index + 1 : index;
    const reason = (chain[at]?.message || codes[at] || '').replace(/\.$/, '');
    return `The PostgreSQL server of ${server} ${what}: ${reason}. ${advice}`;
  }
  return null;
}
