/**
 * The machine of the control plane, complete, on the world's clock and network. Its process shuts down cleanly or
 * crashes; after a crash the next one uses the database as it was on disk at that moment.
 */
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { type ControlApp, createApp } from '../../control/app.ts';
import type { Reports } from '../../control/edge-link/reports.ts';
import { createApiKey, createEdgeToken, createOrganization } from '../../control/organizations/store.ts';
import { readControlConfig } from '../../control/settings/config.ts';
import type { Arrivals } from './journal.ts';
import { controlHost, type SimNetwork } from './network.ts';
import { MachineClock, type SimTime } from './time.ts';

const controlPort = 8080;
export const controlUrl = `http://${controlHost}:${controlPort}`;
const databaseFile = 'control.db';

export interface Keys {
  readonly orgId: string;
  readonly key: string;
  readonly edgeToken: string;
}

export interface ControlSite {
  readonly time: SimTime;
  readonly network: SimNetwork;
  /** Of its database; a crashed process leaves a copy in `nextFolder` for the next one. */
  readonly folder: string;
  readonly nextFolder: string;
  readonly wallClockOffset: number;
  readonly arrivals: Arrivals;
}

type Answer = { readonly status: number; readonly text: string };

export class ControlMachine {
  readonly clock: MachineClock;
  readonly #site: ControlSite;
  readonly #death = Promise.withResolvers<void>();
  #app: ControlApp | null = null;
  alive = true;
  /** Set: the process crashes at the next frame of reports, before the database has it or before the ack. */
  dieAtIngest: 'before' | 'after' | null = null;

  private constructor(site: ControlSite) {
    this.#site = site;
    this.clock = new MachineClock(site.time, site.wallClockOffset);
  }

  static async start(site: ControlSite): Promise<ControlMachine> {
    const machine = new ControlMachine(site);
    mkdirSync(site.folder, { recursive: true });
    const config = readControlConfig({
      DATABASE_URL: join(site.folder, databaseFile),
      TRUNKLINE_SECRET_KEY: '11'.repeat(32),
      LOG_LEVEL: 'silent',
      RATE_LIMIT_PER_MINUTE: '1000000',
      ALLOW_PRIVATE_TARGETS: '10.0.0.0/8',
    });
    const made = createApp({
      config,
      clock: machine.clock,
      logger: pino({ level: 'silent' }),
      limits: { calls: { edgeLostMs: 600_000 } },
      // The world's machines keep what was written.
      sync: async () => {},
      watchReports: (store) => machine.#watched(store),
    });
    const app = await site.time.still(begun(made));
    machine.#app = app;
    site.network.listen(controlHost, controlPort, (socket) => app.app.server.emit('connection', socket));
    return machine;
  }

  get app(): ControlApp {
    if (!this.#app) throw new Error('control has not started');
    return this.#app;
  }

  /** The organization of the world, with SIP. */
  async found(): Promise<Keys> {
    const { services } = this.app;
    const { db } = services.database;
    const orgId = await services.catalogue.change(async (trx, altered) => {
      const id = await createOrganization(trx, this.clock, services.secrets, {
        name: 'Own',
        region: 'test',
        sipEnabled: true,
      });
      altered.organizations.add(id);
      return id;
    });
    return {
      orgId,
      key: await createApiKey(db, this.clock, { kind: 'customer', orgId }, 'test'),
      edgeToken: await createEdgeToken(db, this.clock, 'test'),
    };
  }

  /** @returns status 0 when control crashes before it has answered */
  async call(method: 'GET' | 'POST' | 'PATCH', url: string, key: string, body?: object): Promise<Answer> {
    const answer = this.app.app.inject({
      method,
      url,
      headers: { authorization: key },
      ...(body === undefined ? {} : { payload: body }),
    });
    const told = answer.then(({ statusCode, body: text }) => ({ status: statusCode, text }));
    return Promise.race([told, this.#death.promise.then(() => ({ status: 0, text: '' }))]);
  }

  /** Power off: nothing that the process still does is visible to peers or to later processes. */
  die(): void {
    if (!this.alive) return;
    this.alive = false;
    const { folder, nextFolder, network } = this.#site;
    mkdirSync(nextFolder, { recursive: true });
    for (const file of [databaseFile, `${databaseFile}-wal`]) {
      const path = join(folder, file);
      if (existsSync(path)) cpSync(path, join(nextFolder, file));
    }
    this.#death.resolve();
    network.kill(controlHost);
    this.clock.die();
  }

  /** Shuts down cleanly; its connections are gone already or close now. */
  async stop(): Promise<void> {
    this.#site.network.unlisten(controlHost, controlPort);
    await this.app.close();
    this.die();
  }

  /** Releases what a crashed process still holds. */
  async bury(): Promise<void> {
    await this.app.services.database.close();
  }

  #watched(store: Reports): Reports {
    const never = () => new Promise<never>(() => {});
    return {
      acknowledged: (source) => (this.alive ? store.acknowledged(source) : never()),
      store: async (source, reports) => {
        if (this.dieAtIngest === 'before') this.die();
        if (!this.alive) return never();
        const result = await store.store(source, reports);
        // A crash during database work: that work is in no copy.
        if (!this.alive) return never();
        this.#site.arrivals.took(reports, result.stored);
        if (this.dieAtIngest === null) return result;
        this.die();
        return never();
      },
    };
  }
}

async function begun(made: Promise<ControlApp>): Promise<ControlApp> {
  const app = await made;
  await app.begin();
  return app;
}
