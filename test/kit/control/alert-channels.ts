/** A control plane that sends alerts to a mail server, an SMS service and a webhook of the test. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SMTPServerOptions } from 'smtp-server';
import { expect } from 'vitest';
import { createAuthority } from '../fakes/certificates.ts';
import { releaseAll } from '../fakes/release.ts';
import {
  evaluate,
  type MailServer,
  noRounds,
  ReportedTrunk,
  type SmsService,
  startMailServer,
  startSmsService,
} from './alerts.ts';
import { type SharedControl, shareEmptied, startControl, type TestControl } from './harness.ts';

const authority = createAuthority();
const pair = authority.issue({ names: ['DNS:localhost', 'DNS:hooks.example.com', 'IP:127.0.0.1'] });

/** STARTTLS and a login, as a relay requires. */
export const relay: SMTPServerOptions = {
  ...pair,
  onAuth: ({ username, password }, _session, done) =>
    username === 'relay' && password === 'p@ss' ? done(null, { user: 'relay' }) : done(new Error('wrong')),
};

/** The receivers, for all tests of a file: each finds them with nothing received. */
export class AlertChannels {
  /** The certificate authority of all receivers, as a file. */
  readonly ca: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  readonly #hooks: Server;
  readonly #mail: MailServer;
  /** URL of the webhook. */
  hook = '';
  /** Of the present test. */
  mail: MailServer;
  readonly sms: SmsService;
  posted: { headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  /** Statuses of the next answers of the webhook; then 200. */
  statuses: number[] = [];
  #shared: SharedControl | null = null;
  #test: TestControl | null = null;
  /** Of a test that has one for itself. */
  #own: TestControl | null = null;

  private constructor(mail: MailServer, sms: SmsService) {
    this.#mail = mail;
    this.mail = mail;
    this.sms = sms;
    this.ca = join(this.#folder, 'ca.pem');
    writeFileSync(this.ca, authority.cert);
    this.#hooks = createServer(pair, async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      this.posted.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      response.writeHead(this.statuses.shift() ?? 200).end();
    });
  }

  /** Once for a file; before the next test {@link endTest}, after the last one {@link close}. */
  static async open(): Promise<AlertChannels> {
    const channels = new AlertChannels(await startMailServer(relay), await startSmsService());
    const hooks = channels.#hooks;
    await once(hooks.listen(0, '127.0.0.1'), 'listening');
    channels.hook = `https://hooks.example.com:${(hooks.address() as AddressInfo).port}/alerts`;
    return channels;
  }

  /** The control plane, once started. */
  get test(): TestControl {
    if (!this.#test) throw new Error('the control plane is not started');
    return this.#test;
  }

  /** The test has this mail server in place of the shared one; its control plane is its own. */
  async useMail(options: SMTPServerOptions): Promise<void> {
    this.mail = await startMailServer(options);
  }

  async endTest(): Promise<void> {
    const { mail } = this;
    this.mail = this.#mail;
    await releaseAll(
      () => this.#closeOwn(),
      async () => mail !== this.#mail && mail.close(),
    );
    this.#test = null;
    this.posted = [];
    this.statuses = [];
    for (const { received, answers } of [this.mail, this.sms]) {
      received.length = 0;
      answers.length = 0;
    }
  }

  async #closeOwn(): Promise<void> {
    const own = this.#own;
    this.#own = null;
    await own?.close();
    if (own) expect(own.clock.pending).toBe(0);
  }

  close(): Promise<void> {
    return releaseAll(
      async () => this.#shared?.close(),
      () => this.#mail.close(),
      () => this.sms.close(),
      async () => {
        this.#hooks.closeAllConnections();
        await once(this.#hooks.close(), 'close');
        rmSync(this.#folder, { recursive: true });
      },
    );
  }

  everywhere() {
    return { channels: { email: true, sms: true, webhook: this.hook } };
  }

  /** With other settings, or another mail server, the test has a control plane of its own. */
  async start(env: Record<string, string> = {}): Promise<void> {
    await this.#closeOwn();
    if (Object.keys(env).length === 0 && this.mail === this.#mail) {
      this.#shared ??= await shareEmptied(() => this.#startControl({}));
      this.#test = await this.#shared.next();
    } else {
      this.#own = await this.#startControl(env);
      this.#test = this.#own;
    }
    await this.test.call('PATCH', '/v1/org/settings', {
      body: {
        alert_emails: ['ops@example.com', 'night@example.org'],
        alert_sms_numbers: ['+14155550123'],
      },
    });
  }

  #startControl(env: Record<string, string>): Promise<TestControl> {
    return startControl(
      {
        ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
        SMTP_URL: `smtp://relay:p%40ss@localhost:${this.mail.port}?ca=${this.ca}`,
        MAIL_FROM: 'Trunkline <alerts@trunkline.example>',
        SMS_API_URL: this.sms.url,
        SMS_API_KEY: 'sms-key',
        SMS_FROM: '+14155550000',
        ...env,
      },
      { ca: authority.cert, random: () => 0.5, resolve: async () => ['127.0.0.1'] },
      {},
      { limits: noRounds },
    );
  }

  /** A trunk whose calls fail. */
  async raise(alerts: object = this.everywhere()): Promise<ReportedTrunk> {
    const trunk = await ReportedTrunk.start(this.test, alerts);
    await trunk.calls(0, 5);
    await evaluate(this.test);
    return trunk;
  }

  notices(channel: 'email' | 'sms') {
    return this.test.control.services.database.db
      .selectFrom('alert_notices')
      .selectAll()
      .where('channel', '=', channel)
      .orderBy('created_at')
      .orderBy('event')
      .execute();
  }
  /** Waits until every notice of a channel was delivered or given up. */
  async settled(channel: 'email' | 'sms', count: number) {
    await expect
      .poll(async () => (await this.notices(channel)).filter((row) => row.next_attempt_at === null).length)
      .toBe(count);
    return this.notices(channel);
  }
  /** Waits until a retried notice has had this many attempts. Returns those notices. */
  async attempted(channel: 'email' | 'sms', times: number) {
    const waiting = async () =>
      (await this.notices(channel)).filter((row) => row.next_attempt_at !== null && row.attempts === times);
    await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
    return waiting();
  }
  /** Advances to the next attempt of a channel. Returns the seconds since the first. */
  async moveToNext(channel: 'email' | 'sms'): Promise<number> {
    const waiting = (await this.notices(channel)).find((row) => row.next_attempt_at !== null);
    const due = Date.parse(waiting?.next_attempt_at ?? '');
    this.test.clock.advance(due - this.test.clock.now());
    return (due - Date.parse(waiting?.first_attempt_at ?? '')) / 1000;
  }
}
