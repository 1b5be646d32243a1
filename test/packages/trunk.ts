/**
 * A PBX on a machine of its own, with the addresses and names of the pages, on a cable to the machine of Trunkline: what
 * docs/pbx/README.md has a reader do before and after the configuration of the PBX, and the calls that then go both ways.
 */
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { pbxExample } from '#shared/pbx/example.ts';
import type { PbxFile } from '#shared/pbx/facts.ts';
import { pbxFiles } from '#shared/pbx/text.ts';
import { createAuthority, type TestKeyPair } from '../kit/fakes/certificates.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import type { Administrator } from './administrator.ts';
import { connect, type Deployment, limitMs } from './deployment.ts';
import { page, shownIn } from './guides.ts';
import type { Machine } from './machine.ts';

const readme = 'pbx/README.md';
/** As the pages write them. */
export const number = '+14155550100';
export const pbxAddress = '203.0.113.10';
export const pbxName = 'pbx.example.com';
const [edgeAddress = ''] = pbxExample.addresses;

const names = `127.0.0.1 localhost\n${edgeAddress} ${pbxExample.server}\n${pbxAddress} ${pbxName}\n`;

interface Logged {
  readonly id: string;
  readonly direction: string;
  readonly outcome: string;
  readonly status: string;
  readonly duration_seconds: number;
  readonly answered_at: string | null;
  readonly ended_at: string | null;
  readonly source_ip: string | null;
  readonly trunk_id: string | null;
  readonly media: { readonly verdict: string } | null;
}

/** Of that PBX, and of every phone behind it: nobody else trusts it. */
export interface PbxIdentity {
  readonly pair: TestKeyPair;
  readonly authority: string;
}

export class Trunk {
  readonly #deployment: Deployment;
  readonly #administrator: Administrator;
  readonly #identity: PbxIdentity;

  constructor(deployment: Deployment, administrator: Administrator) {
    this.#deployment = deployment;
    this.#administrator = administrator;
    const authority = createAuthority('Authority of the PBX');
    const pair = authority.issue({ commonName: pbxName, names: [`DNS:${pbxName}`, `IP:${pbxAddress}`] });
    this.#identity = { pair, authority: authority.cert };
  }

  get identity(): PbxIdentity {
    return this.#identity;
  }

  get #machine(): Machine {
    return this.#deployment.machine;
  }

  /**
   * The settings of a machine that peers reach. Addresses of examples are no targets of calls unless they are listed: the
   * only line that no page asks for.
   */
  async prepare(): Promise<void> {
    await writeFile(this.#machine.path('etc/hosts'), names);
    await this.#machine.outside('ip', [
      ...['-n', this.#machine.network, 'addr', 'add', `${edgeAddress}/32`, 'dev', 'lo'],
    ]);
    const settings = `SIP_PUBLIC_HOST=${pbxExample.server}\n`;
    const allowed = `ALLOW_PRIVATE_TARGETS=${pbxAddress}/32\n`;
    await appendFile(this.#machine.path('etc/trunkline/control.env'), `${settings}${allowed}`);
    await appendFile(
      this.#machine.path('etc/trunkline/edge.env'),
      `${settings}RTP_PUBLIC_IP="${edgeAddress}"\nTLS_CA=/etc/trunkline/pbx-ca.crt\n`,
    );
    await writeFile(this.#machine.path('etc/trunkline/pbx-ca.crt'), this.#identity.authority);
    const lines = [...page('packages.md').matchAll(/`(systemctl restart [\w-]+)`/g)];
    await this.#administrator.types(
      'packages.md',
      lines.map(([, line = '']) => ({ line, output: [] })),
    );
    await this.#attach();
  }

  /** Steps 1 and 2 of the page. */
  async #attach(): Promise<void> {
    const attached = await this.#shown('localhost:8080/v1/sip/attach');
    this.#machine.check(
      attached.includes(`"configured":["${number}"]`) && attached.includes('"failed":[]'),
      `docs/${readme}: the number is attached in both directions`,
      attached,
    );
    const firewall = JSON.parse(await this.#shown('/v1/sip/firewall-ips')) as { data: object };
    const shown = JSON.parse(shownIn(readme, /^ {4}(\{"data":\{"region".*)$/m)) as { data: object };
    const { region: _ours, ...ports } = firewall.data as Record<string, unknown>;
    const { region: _theirs, ...expected } = shown.data as Record<string, unknown>;
    this.#machine.check(
      JSON.stringify(ports) === JSON.stringify(expected),
      `docs/${readme}: the addresses and ports for the firewall are those that it shows`,
      JSON.stringify(ports),
    );
  }

  /** Connects a PBX, and gives it the files that its page shows. */
  async configure(pbx: Machine, system: string): Promise<void> {
    await connect({ machine: this.#machine, address: edgeAddress }, { machine: pbx, address: pbxAddress });
    await writeFile(pbx.path('etc/hosts'), names);
    const files = [...page(`pbx/${system}.md`).matchAll(/^`(\/etc\/[^`]+)`:\n\n```\n([\s\S]*?)^```$/gm)].map(
      ([, path = '', text = '']) => ({ path, text }),
    );
    const { data } = JSON.parse(await this.#shown('/v1/sip/outbound-setup', `pbx/${system}.md`)) as {
      data: { files: PbxFile[] };
    };
    const own = pbxFiles(system, { ...pbxExample, addresses: [edgeAddress] });
    pbx.check(
      files.length > 0 && JSON.stringify(data.files) === JSON.stringify(own),
      `docs/pbx/${system}.md: the API prints its ${files.length} files, with the one address of this edge`,
      JSON.stringify(data.files, null, 1),
    );
    for (const { path, text } of files) await writeFile(pbx.path(path), text);
  }

  /** The PBX's own certificate and key, and whom it trusts, as step 1 of its page says. */
  async certificates(pbx: Machine, folder: string, user: string, publicOnes: boolean): Promise<void> {
    const edge = await this.#machine.chroot('cat', ['/var/lib/trunkline/tls/ca.crt']);
    const others = publicOnes ? await pbx.chroot('cat', ['/etc/ssl/certs/ca-certificates.crt']) : '';
    await mkdir(pbx.path(folder), { recursive: true });
    const { cert, key } = this.#identity.pair;
    for (const [name, text] of Object.entries({
      'pbx.crt': cert,
      'pbx.key': key,
      'trusted.pem': `${others}${edge}`,
    })) {
      const file = `${folder}/${name}`;
      await writeFile(pbx.path(file), text);
      await pbx.chroot('chown', [user, file]);
      await pbx.chroot('chmod', ['0600', file]);
    }
  }

  /** Step 4 of docs/pbx/README.md. */
  async isHealthy(pbx: Machine): Promise<void> {
    const said = await eventually(
      'the trunk to be healthy',
      async () => {
        const answer = saw(await this.#shown('/v1/sip/status'));
        return answer.includes('"status":"healthy"') ? answer : null;
      },
      limitMs,
    );
    pbx.check(said.includes(pbxName), `docs/${readme}: the status of the trunk is "healthy"`);
  }

  /** What a call from the PBX, or to it, leaves in the log. @param place has it begin, and end */
  async call(pbx: Machine, direction: 'inbound' | 'outbound', place: () => Promise<void>): Promise<void> {
    const last = async () =>
      (await this.api<{ data: { calls: Logged[] } }>('GET', `/v1/sip/calls?direction=${direction}&limit=1`))
        .data.calls[0];
    const before = (await last())?.id;
    await place();
    const call = await eventually(
      `the ${direction} call to be in the log`,
      async () => {
        const newest = saw(await last());
        return newest && newest.id !== before && newest.ended_at !== null ? newest : null;
      },
      limitMs,
    );
    const { data } = await this.api<{ data: unknown }>(
      'GET',
      `/v1/sip?phone_number=${encodeURIComponent(number)}`,
    );
    const isTrunk = call.trunk_id !== null && JSON.stringify(data).includes(call.trunk_id);
    pbx.check(
      isTrunk &&
        call.outcome === 'completed' &&
        call.answered_at !== null &&
        call.duration_seconds > 0 &&
        call.source_ip === pbxAddress &&
        call.media?.verdict === 'two_way',
      `an ${direction} call over the trunk is "${call.status}", lasts ${call.duration_seconds} s, and its audio goes both ways`,
      JSON.stringify({ call, data }, null, 1),
    );
  }

  /** An agent calls a number behind the PBX. */
  async agentCalls(to: string): Promise<void> {
    const order = { phone_number: to, from: number, task: 'Say good morning.' };
    await this.api('POST', '/v1/calls', order);
  }

  /** As the page says, so that calls of this machine reach the number again. */
  async admitOwnCalls(): Promise<void> {
    const own = shownIn(readme, /list `([\d.]+)` in `allowed_ips`, too/);
    const updates = { type: 'inbound', options: { allowed_ips: [pbxAddress, own] } };
    await this.api('POST', '/v1/sip/update', { phone_number: number, updates });
  }

  /** As the function of the guides. */
  async api<T>(method: string, path: string, body?: object): Promise<T> {
    const data =
      body === undefined ? '' : ` -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
    return JSON.parse(
      await this.#shell(`curl -sS -X ${method} -H "authorization: $KEY"${data} 'localhost:8080${path}'`),
    ) as T;
  }

  /** Runs the command of a page that asks for this path. */
  async #shown(path: string, name = readme): Promise<string> {
    const blocks = page(name).match(/(?:^ {4}.*\n)+/gm) ?? [];
    const found = blocks.filter((block) => block.startsWith('    curl ') && block.includes(path));
    const [block] = found;
    if (block === undefined || found.length > 1)
      throw new Error(`docs/${name} has ${found.length} commands for ${path}`);
    return await this.#shell(block);
  }

  async #shell(script: string): Promise<string> {
    const key = shownIn(readme, /`(KEY=\$\(jq -r \.api_key data\/bootstrap\.json\))`/);
    const file = shownIn(readme, /the file is `([^`]+)`, for root/);
    const { code, stdout, output } = await this.#machine.shell(
      `${key.replace('data/bootstrap.json', file)}\n${script}`,
    );
    if (code !== 0) throw new Error(`${this.#machine.name}: ${script} ended with ${code}\n${output}`);
    return stdout;
  }
}
