/**
 * Connections of ended pools stay open for the next pool with the same options. A process of the server reads the
 * catalogue before its first statement on a table, which takes it longer than all statements of most tests.
 */
import pg from 'pg';

/** For each set of options; several control planes on one database have as many. */
const mostKept = 9;
const kept = new Map<string, pg.Client[]>();

type Done = (error?: Error) => void;

/** From now on in this process, those of the databases with these addresses. */
export function keepConnections(addresses: ReadonlySet<string>): void {
  const Client = new Proxy(pg.Client, {
    construct: (_, [options]: [pg.PoolConfig]) => {
      const key = JSON.stringify(options);
      return kept.get(key)?.pop() ?? keptOnceEnded(options, key);
    },
  });
  const Pool = new Proxy(pg.Pool, {
    construct: (Original, [options]: [pg.PoolConfig]) =>
      new Original(addresses.has(options.connectionString ?? '') ? { ...options, Client } : options),
  });
  Object.defineProperty(pg, 'Pool', { value: Pool });
}

/** A new connection; once its pool ends it, it is kept. */
function keptOnceEnded(options: pg.PoolConfig, key: string): pg.Client {
  const client = new pg.Client(options);
  const connect = client.connect.bind(client);
  const end = client.end.bind(client);
  let isOpen = false;
  const drop = () => {
    isOpen = false;
    kept.set(
      key,
      (kept.get(key) ?? []).filter((one) => one !== client),
    );
  };
  const watch = () => client.on('error', drop).on('end', drop);
  const keep = async () => {
    // After a statement that may still run: it has its answer before the next user.
    await client.query('unlisten *; reset all');
    const others = kept.get(key) ?? [];
    if (!isOpen || others.length >= mostKept) return end();
    kept.set(key, [...others, client]);
  };
  watch();
  return Object.assign(client, {
    connect: (done: Done) => {
      if (isOpen) return process.nextTick(done);
      connect((error: Error | null) => {
        isOpen = !error;
        done(error ?? undefined);
      });
    },
    end: (done: Done) => {
      if (!isOpen || client.getTransactionStatus() !== 'I') return end(done);
      client.removeAllListeners('error').removeAllListeners('end').removeAllListeners('notification');
      watch();
      keep().catch(() => end());
      process.nextTick(done);
    },
  });
}
