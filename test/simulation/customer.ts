/** What the customer does over the HTTP API: configures numbers and their agents, places calls and stops them. */
import type { ControlMachine } from './control-machine.ts';
import { sipPort } from './edge-machine.ts';
import { Violation } from './invariants.ts';
import { pathway } from './pathway.ts';
import { peerKey } from './peer-messages.ts';
import type { Random } from './random.ts';
import { type Registrar, registeredUser, registrarAddress } from './registrar.ts';
import type { SimTime } from './time.ts';

export const number = '+14155550100';
/** Number whose edge registers at a PBX. */
const registeredNumber = '+14155550101';
/** Answered by a pathway that accepts keys. */
export const keysNumber = '+14155550102';
/** Of the carriers that call and are called. */
export const trunkAddresses = ['10.1.0.1', '10.1.0.2', '10.1.0.3'] as const;
/** The longest call. */
const maxMinutes = 5;

interface CustomerSite {
  readonly time: SimTime;
  readonly random: Random;
  readonly note: (line: string) => void;
  /** The running control plane. */
  readonly control: () => ControlMachine | null;
  /** Takes an answer that no fault of the world explains. */
  readonly problem: (line: string) => void;
}

export class Customer {
  readonly #site: CustomerSite;
  readonly #registrar: Registrar;
  #pathwayId: string | null = null;
  /** API key; null: it has none yet. */
  key: string | null = null;
  /** Texts that no record may contain. */
  readonly secrets = new Set([peerKey]);
  /** Call orders that control accepted, by id. */
  readonly placed = new Set<string>();

  constructor(site: CustomerSite, registrar: Registrar) {
    this.#site = site;
    this.#registrar = registrar;
  }

  /** @param endpoints targets of the trunk */
  async configure(endpoints: number): Promise<void> {
    const [primary, ...others] = trunkAddresses
      .slice(1, 1 + endpoints)
      .map((host, priority) => ({ host, port: sipPort, priority }));
    if (!primary) return;
    const agents = [
      [number, { prompt: 'Say hello.' }],
      [keysNumber, { pathway_id: this.#pathwayId }],
    ] as const;
    for (const [of, agent] of agents) {
      await this.#api('POST', '/v1/sip/attach', {
        phone_number: of,
        directions: [
          { type: 'inbound', options: { allowed_ips: [...trunkAddresses] } },
          { type: 'outbound', sip_endpoint: `${primary.host}:${sipPort}` },
        ],
      });
      await this.#api('PATCH', '/v1/sip/config', {
        phone_number: of,
        direction: 'outbound',
        failover_config: { enabled: true, endpoints: others, failback: 'auto' },
      });
      await this.#api('POST', `/v1/inbound/${encodeURIComponent(of)}`, {
        ...agent,
        max_duration: maxMinutes,
      });
    }
  }

  async makePathway(): Promise<void> {
    const made = await this.#api('POST', '/v1/pathway/create', { name: 'Keys' });
    const { pathway_id: id } = JSON.parse(made.text) as { pathway_id: string };
    const { status, text } = await this.#api('POST', `/v1/pathway/${id}`, pathway);
    if (status !== 200) throw new Violation(`the pathway was refused: ${text}`);
    this.#pathwayId = id;
  }

  /** Attaches the number that registers; the PBX gets the password after a while. */
  async attachRegistered(): Promise<void> {
    const { random } = this.#site;
    const { status, text } = await this.#api('POST', '/v1/sip/attach', {
      phone_number: registeredNumber,
      directions: [
        {
          type: 'inbound',
          auth_mode: 'register',
          sip_endpoint: `${registrarAddress}:${sipPort}`,
          register_auth: { username: registeredUser, password: 'chosen by the customer' },
        },
      ],
    });
    if (status !== 200) return;
    const { data } = JSON.parse(text) as { data: { register_password_for_pbx?: string } };
    const password = data.register_password_for_pbx;
    if (password === undefined) throw new Violation(`attach gave no password: ${text}`);
    this.secrets.add(password);
    this.#site.time.after(random.between(0, 20_000), () => this.#registrar.learn(password));
    await this.#api('POST', `/v1/inbound/${encodeURIComponent(registeredNumber)}`, {
      prompt: 'Say hello.',
      max_duration: maxMinutes,
    });
  }

  async detachRegistered(): Promise<void> {
    await this.#api('POST', '/v1/sip/detach', { phone_number: registeredNumber });
    await this.attachRegistered();
  }

  async #api(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
    const control = this.#site.control();
    if (!control || this.key === null) return { status: 0, text: '' };
    const answer = await control.call(method, path, this.key, body);
    if (answer.status >= 500 && answer.status !== 503 && control === this.#site.control()) {
      this.#site.problem(`${method} ${path}: ${answer.status} ${answer.text}`);
    }
    return answer;
  }

  async place(): Promise<void> {
    const { random, note } = this.#site;
    const agent = random.chance(0.7)
      ? { from: number, task: 'Say hello.' }
      : { from: keysNumber, pathway_id: this.#pathwayId };
    const order = {
      phone_number: `+1415555${random.between(1000, 9999)}`,
      ...agent,
      max_duration: maxMinutes,
    };
    const { status, text } = await this.#api('POST', '/v1/calls', order);
    if (status !== 200) return;
    const { call_id: id } = JSON.parse(text) as { call_id: string };
    note(`placed ${id}`);
    this.placed.add(id);
  }

  async stopOne(): Promise<void> {
    const ids = [...this.placed];
    if (ids.length > 0) await this.#api('POST', `/v1/calls/${this.#site.random.pick(ids)}/stop`, {});
  }

  async registerNow(): Promise<void> {
    await this.#api('POST', '/v1/sip/register-now', { phone_number: registeredNumber });
  }
}
