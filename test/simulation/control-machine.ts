/** The machine of the control plane: all of it, on the world's clock and network. Its database outlives it. */
import { pino } from 'pino';
import { type ControlApp, createApp } from '../../control/app.ts';
import { readControlConfig } from '../../control/config.ts';
import { createApiKey, createEdgeToken, createOrganization } from '../../control/organizations/store.ts';
import { controlHost, type SimNetwork } from './network.ts';
import { MachineClock, type SimTime } from './time.ts';

const controlPort = 8080;
export const controlUrl = `http://${controlHost}:${controlPort}`;

export interface Keys {
  readonly orgId: string;
  readonly key: string;
  readonly edgeToken: string;
}

export class ControlMachine {
  readonly clock: MachineClock;
  readonly app: ControlApp;
  readonly #network: SimNetwork;

  private constructor(app: ControlApp, clock: MachineClock, network: SimNetwork) {
    this.app = app;
    this.clock = clock;
    this.#network = network;
    network.listen(controlHost, controlPort, (socket) => app.app.server.emit('connection', socket));
  }

  static async start(
    time: SimTime,
    network: SimNetwork,
    databaseFile: string,
    offset = 0,
  ): Promise<ControlMachine> {
    const clock = new MachineClock(time, offset);
    const config = readControlConfig({
      DATABASE_URL: databaseFile,
      TRUNKLINE_SECRET_KEY: '11'.repeat(32),
      LOG_LEVEL: 'silent',
      RATE_LIMIT_PER_MINUTE: '1000000',
      ALLOW_PRIVATE_TARGETS: '10.0.0.0/8',
      EDGE_LOST_SECONDS: '600',
    });
    const app = await time.still(begun(createApp({ config, clock, logger: pino({ level: 'silent' }) })));
    return new ControlMachine(app, clock, network);
  }

  /** The organization of the world, with SIP. */
  async found(): Promise<Keys> {
    const { services } = this.app;
    const { db } = services.database;
    const orgId = await services.edgeConfig.change(async (trx, altered) => {
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

  async call(method: 'GET' | 'POST' | 'PATCH', url: string, key: string, body?: object) {
    const answer = await this.app.app.inject({
      method,
      url,
      headers: { authorization: key },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: answer.statusCode, text: answer.body };
  }

  /** Its machine goes away. */
  die(): void {
    this.#network.kill(controlHost);
    this.clock.die();
  }

  /** Ends in good order; its connections are gone already or end now. */
  async stop(): Promise<void> {
    this.#network.unlisten(controlHost, controlPort);
    await this.app.close();
  }
}

async function begun(made: Promise<ControlApp>): Promise<ControlApp> {
  const app = await made;
  await app.begin();
  return app;
}
