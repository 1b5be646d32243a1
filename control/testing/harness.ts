/** A whole control plane for tests: database in memory, clock moved by hand, two organizations. */
import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { FakeClock } from '#shared/clock.ts';
import { type AppOptions, type ControlApp, createApp } from '../app.ts';
import { type ControlConfig, readControlConfig } from '../config.ts';
import { createApiKey, createEdgeToken, createOrganization } from '../organizations/store.ts';

export interface TestControl {
  readonly control: ControlApp;
  readonly clock: FakeClock;
  /** The organization that most tests act for; has SIP. */
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
  close(): Promise<void>;
}

export interface CallOptions {
  readonly body?: unknown;
  /** null: none */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
}

/** What a test looks at of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: LightMyRequestResponse['headers'];
  readonly text: string;
  readonly bytes: Buffer;
  /** The JSON body. */
  readonly body: Json;
  /** Codes of the errors. */
  readonly codes: readonly string[];
}

/** JSON that a test walks into without proving each step; a wrong step gives undefined. */
export interface Json {
  readonly [key: string]: Json;
}

export async function startControl(
  env: Readonly<Record<string, string>> = {},
  webhooks: AppOptions['webhooks'] = {},
  conversations: AppOptions['conversations'] = {},
  more: Pick<AppOptions, 'promotionGate'> = {},
): Promise<TestControl> {
  const config: ControlConfig = readControlConfig({
    DATABASE_URL: ':memory:',
    TRUNKLINE_SECRET_KEY: '11'.repeat(32),
    CONTROL_PORT: '0',
    LOG_LEVEL: 'silent',
    ...env,
  });
  const clock = new FakeClock();
  const control = await createApp({
    config,
    clock,
    logger: pino({ level: config.logLevel }),
    checkAnswers: true,
    webhooks,
    conversations,
    ...more,
  });
  const { db } = control.services.database;
  const organization = (name: string, sipEnabled: boolean) =>
    control.services.edgeConfig.change(async (trx, altered) => {
      const id = await createOrganization(trx, clock, control.services.secrets, {
        name,
        region: 'test',
        sipEnabled,
      });
      altered.organizations.add(id);
      return id;
    });
  const keyOf = (orgId: string) => createApiKey(db, clock, { kind: 'customer', orgId }, 'test');
  const orgId = await organization('Own', true);
  const foreignOrgId = await organization('Foreign', true);
  const key = await keyOf(orgId);
  return {
    control,
    clock,
    orgId,
    key,
    foreignOrgId,
    foreignKey: await keyOf(foreignOrgId),
    plainKey: await keyOf(await organization('Without SIP', false)),
    operatorKey: await createApiKey(db, clock, { kind: 'operator' }, 'test'),
    edgeToken: await createEdgeToken(db, clock, 'test'),
    call: async (method, url, options = {}) => {
      const authorization = options.key === undefined ? key : options.key;
      const response = await control.app.inject({
        method,
        url,
        headers: { ...(authorization !== null && { authorization }), ...options.headers },
        ...(options.body !== undefined && { payload: options.body as object }),
      });
      return answerOf(response);
    },
    close: () => control.close(),
  };
}

function answerOf(response: LightMyRequestResponse): Answer {
  const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json');
  const body = isJson ? response.json<Json>() : {};
  const errors: unknown = body.errors;
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    bytes: response.rawPayload,
    body,
    codes: Array.isArray(errors) ? errors.map((error: { code: string }) => error.code) : [],
  };
}
