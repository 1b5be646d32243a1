/** A whole control plane for tests, over real HTTP: database in memory, clock moved by hand, two organizations. */
import { Agent } from 'node:http';
import { pino } from 'pino';
import { FakeClock } from '#shared/clock.ts';
import { type ControlApp, createApp } from '../../../control/app.ts';
import { createApiKey, createEdgeToken, createOrganization } from '../../../control/organizations/store.ts';
import type { AppOptions } from '../../../control/services.ts';
import { type ControlConfig, readControlConfig } from '../../../control/settings/config.ts';
import {
  databaseQuiet,
  emptyUnderControl,
  onSqlite,
  takeDatabase,
  testConnections,
} from '../db/test-database.ts';
import { type Answer, send } from '../http/answer.ts';

export interface TestControl {
  readonly control: ControlApp;
  readonly clock: FakeClock;
  /** The organization of most tests; has SIP. */
  readonly orgId: string;
  readonly key: string;
  /** Another organization, also with SIP. */
  readonly foreignKey: string;
  readonly foreignOrgId: string;
  /** Of an organization without SIP. */
  readonly plainKey: string;
  readonly operatorKey: string;
  readonly edgeToken: string;
  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    options?: CallOptions,
  ): Promise<Answer>;
  /** Its URL, without trailing slash; the first use starts listening. */
  url(): Promise<string>;
  close(): Promise<void>;
}

export interface CallOptions {
  /** Text and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** null: none */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
}

export async function startControl(
  env: Readonly<Record<string, string>> = {},
  webhooks: AppOptions['webhooks'] = {},
  conversations: AppOptions['conversations'] = {},
  {
    begin = true,
    ...more
  }: Partial<Pick<AppOptions, 'promotionGate' | 'limits' | 'sync' | 'logger' | 'tracing'>> & {
    readonly begin?: boolean;
  } = {},
): Promise<TestControl> {
  const database = 'DATABASE_URL' in env ? null : await takeDatabase();
  const config: ControlConfig = readControlConfig({
    ...(database !== null && { DATABASE_URL: database.address }),
    TRUNKLINE_SECRET_KEY: '11'.repeat(32),
    CONTROL_PORT: '0',
    LOG_LEVEL: 'silent',
    ...env,
  });
  const clock = new FakeClock();
  const control = await createApp({
    config,
    clock,
    logger: pino({ level: config.log.level }),
    checkAnswers: true,
    webhooks,
    conversations,
    ...more,
    limits: { ...more.limits, db: { connections: testConnections } },
  });
  // Without background work, a test processes the database itself.
  if (begin) await control.begin();
  const organizations = await makeOrganizations(control, clock);
  const url = listenOnce(control);
  return {
    control,
    clock,
    ...organizations,
    url,
    call: callsWith(organizations.key, url),
    close: async () => {
      await control.close();
      await database?.release();
    },
  };
}

async function makeOrganizations({ services }: ControlApp, clock: FakeClock) {
  const made = await services.catalogue.change(async (db, altered) => {
    const organization = async (name: string, sipEnabled: boolean) => {
      const id = await createOrganization(db, clock, services.secrets, { name, region: 'test', sipEnabled });
      altered.organizations.add(id);
      return { id, key: await createApiKey(db, clock, { kind: 'customer', orgId: id }, 'test') };
    };
    return {
      own: await organization('Own', true),
      foreign: await organization('Foreign', true),
      plain: await organization('Without SIP', false),
      operatorKey: await createApiKey(db, clock, { kind: 'operator' }, 'test'),
      edgeToken: await createEdgeToken(db, clock, 'test'),
    };
  });
  const { own, foreign, plain, ...others } = made;
  return {
    orgId: own.id,
    key: own.key,
    foreignOrgId: foreign.id,
    foreignKey: foreign.key,
    plainKey: plain.key,
    ...others,
  };
}

function callsWith(key: string, url: () => Promise<string>): TestControl['call'] {
  const agent = new Agent({ keepAlive: true });
  return async (method, path, options = {}) => {
    const authorization = options.key === undefined ? key : options.key;
    const isRaw = typeof options.body === 'string' || Buffer.isBuffer(options.body);
    const headers = {
      ...(authorization !== null && { authorization }),
      ...(options.body !== undefined && !isRaw && { 'content-type': 'application/json' }),
      ...options.headers,
    };
    const body = isRaw ? (options.body as string | Buffer) : JSON.stringify(options.body);
    return send(agent, { method, url: (await url()) + path, headers, body });
  };
}

/**
 * For tests that need no background work: its first looks at its queues take PostgreSQL longer than most of these tests.
 * On SQLite it runs beside them.
 */
export const startRoutes = (env: Readonly<Record<string, string>> = {}): Promise<TestControl> =>
  startControl(env, {}, {}, { begin: onSqlite });

export interface SharedControl<T extends TestControl = TestControl> {
  /** For the next test: with organizations of its own, at the time of the start. Close it with the others. */
  next(): Promise<T>;
  close(): Promise<void>;
}

/**
 * As `startRoutes`, once for all tests of a file: a start takes several times as long as such a test. For tests that look
 * at their organizations alone.
 */
export const shareRoutes = (env: Readonly<Record<string, string>> = {}): Promise<SharedControl> =>
  share(
    () => startRoutes(env),
    async () => undefined,
  );

/**
 * A control plane for tests one after the other: each finds it as after its start, with nothing of the earlier ones in its
 * database and its metrics, without edges, and a minute after the last request.
 */
export const shareEmptied = <T extends TestControl>(start: () => Promise<T>): Promise<SharedControl<T>> =>
  share(start, async ({ clock, control: { metrics, services } }) => {
    const { config, database, edges } = services;
    clock.pass(60_000);
    // Those that the test did not close are silent for too long. Without any, no background work begins by this.
    if (edges.count > 0) clock.advance(60_000);
    while (edges.count > 0) await new Promise((resolve) => setImmediate(resolve));
    await databaseQuiet(database);
    await emptyUnderControl(database, config.database);
    metrics.resetMetrics();
  });

async function share<T extends TestControl>(
  start: () => Promise<T>,
  before: (shared: T) => Promise<void>,
): Promise<SharedControl<T>> {
  const shared = await start();
  const { clock, control, url } = shared;
  const begun = clock.now();
  return {
    next: async () => {
      await before(shared);
      clock.jump(begun - clock.now());
      const organizations = await makeOrganizations(control, clock);
      const call = callsWith(organizations.key, url);
      return { ...shared, ...organizations, call, close: async () => undefined };
    },
    close: () => shared.close(),
  };
}

/** Listens on any free port when the URL is first read. */
export function listenOnce({ app }: Pick<ControlApp, 'app'>): () => Promise<string> {
  let listening: Promise<string> | undefined;
  return () => {
    listening ??= app.listen({ host: '127.0.0.1', port: 0 });
    return listening;
  };
}
