/** The files of deploy/ for containers, Kubernetes and systemd fit the programs and each other. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { commandTable } from '../scripts/command/table.ts';
import { plans } from '../scripts/package/plan.ts';
import { nodeFlags } from '../scripts/supervisor/node-flags.ts';
import { settings } from '../shared/settings/table.ts';

const root = join(import.meta.dirname, '..');
const deploy = join(root, 'deploy');
const read = (file: string) => readFileSync(join(deploy, file), 'utf8');
const programs = ['control', 'edge'] as const;
type Program = (typeof programs)[number];

/** Of Node and of the images, not of the programs. */
const otherVariables = ['NODE_COMPILE_CACHE'];
const settingNames = (program: Program) => [
  ...settings.filter((one) => [program, 'both'].includes(one.program)).map(({ name }) => String(name)),
  ...otherVariables,
];
const defaultOf = (name: string) => settings.find((one) => one.name === name)?.default ?? '';
const startOf = (program: Program) => [
  `/usr/lib/trunkline-${program}/bin/node`,
  ...nodeFlags[program],
  `${program}/main.ts`,
];
const isSeconds = (text: string) => Number(/^(\d+)s?$/.exec(text)?.[1]);

describe('the Containerfile', () => {
  const file = read('container/Containerfile').replaceAll(/\\\n/g, '');
  const stage = (name: string) => {
    const [, text = ''] = file.split(new RegExp(`^FROM \\S+ AS ${name}$`, 'm'));
    return text.split(/^FROM /m)[0] ?? '';
  };
  const listOf = (program: Program, word: string): string[] =>
    JSON.parse(new RegExp(`^${word} (\\[.*\\])$`, 'm').exec(stage(program))?.[1] ?? '[]');

  test.each(programs)('starts %s as its unit does, as a user without rights', (program) => {
    expect(listOf(program, 'CMD')).toEqual(startOf(program));
    expect(stage(program)).toMatch(/^USER 10001:10001$/m);
    expect(stage(program)).toContain(`WORKDIR /usr/lib/trunkline-${program}\n`);
    expect(stage(program)).toMatch(/^HEALTHCHECK .*CMD \["/m);
  });

  test.each(programs)('installs for %s what its package depends on, by the names of Debian 13', (program) => {
    const plan = plans.find((one) => one.program === program);
    const wanted = [...(plan?.depends ?? []), ...(plan?.recommends ?? [])]
      .map((one) => one.split(' ')[0] ?? '')
      // The image has its own user, and every Debian has the C library.
      .filter((name) => name !== 'adduser');
    const [, names = ''] =
      /apt-get install -y --no-install-recommends ([\w. +-]+?) +&&/.exec(stage(program)) ?? [];
    expect(names.split(' ').sort()).toEqual(wanted.sort());
  });

  test('sets only variables that the programs know', () => {
    const names = [...file.matchAll(/^ENV (.*)$/gm)].flatMap(([, pairs = '']) =>
      pairs.split(' ').map((pair) => pair.split('=')[0] ?? ''),
    );
    const known = programs.flatMap(settingNames);
    expect(names.length).toBeGreaterThan(2);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the compose file', () => {
  const file = parse(read('container/compose.yaml'), { merge: true });
  const { services } = file;

  test.each(programs)(
    'runs %s with settings that it knows, a read-only root and no capability',
    (program) => {
      const service = services[program];
      expect(
        Object.keys(service.environment).filter((name) => !settingNames(program).includes(name)),
      ).toEqual([]);
      expect(service).toMatchObject({
        image: `trunkline-${program}`,
        build: { target: program },
        read_only: true,
        cap_drop: ['ALL'],
        restart: 'always',
      });
    },
  );

  test('starts control as its unit does, and the edge in the network of the host', () => {
    expect(services.control.command).toEqual(startOf('control'));
    expect(services.edge.network_mode).toBe('host');
    expect(services.control.ports).toEqual([
      `127.0.0.1:${defaultOf('CONTROL_PORT')}:${defaultOf('CONTROL_PORT')}`,
    ]);
    expect(services.edge.environment.CONTROL_URL).toBe(`http://127.0.0.1:${defaultOf('CONTROL_PORT')}`);
  });

  test('gives the edge more time to stop than its drain takes', () => {
    const drain = Number(services.edge.environment.DRAIN_TIMEOUT_S);
    expect(isSeconds(services.edge.stop_grace_period)).toBeGreaterThan(drain + 15);
  });

  test('refers only to volumes and secrets that it has', () => {
    type Service = { volumes?: string[]; secrets?: string[] };
    const all: Service[] = Object.values(services);
    for (const { volumes = [], secrets = [] } of all) {
      for (const volume of volumes) expect(Object.keys(file.volumes)).toContain(volume.split(':')[0]);
      for (const secret of secrets) expect(Object.keys(file.secrets)).toContain(secret);
    }
  });
});

describe('the Kubernetes manifests', () => {
  const files = readdirSync(join(deploy, 'kubernetes'));
  const documents = files.flatMap((name) =>
    parseAllDocuments(read(join('kubernetes', name))).map((one) => ({
      errors: one.errors,
      value: one.toJS(),
    })),
  );
  const find = (kind: string, name: string) =>
    documents.find(({ value }) => value.kind === kind && value.metadata?.name === name)?.value;
  const podOf = (program: Program) => find('StatefulSet', `trunkline-${program}`).spec.template.spec;
  const containerOf = (program: Program) => podOf(program).containers[0];
  const secrets = documents.filter(({ value }) => value.kind === 'Secret').map(({ value }) => value);
  const secretKeys = (name: string) =>
    Object.keys(secrets.find(({ metadata }) => metadata.name === name)?.stringData ?? {});

  test('are YAML, and the kustomization has each file', () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const { resources } = find('Kustomization', '') ?? parse(read('kubernetes/kustomization.yaml'));
    expect([...resources, 'kustomization.yaml'].sort()).toEqual(files.sort());
  });

  test.each(programs)(
    'run %s with settings that it knows, as the user of its image, with a read-only root',
    (program) => {
      const { env, envFrom = [], securityContext } = containerOf(program);
      const names = [
        ...env.map(({ name }: { name: string }) => name),
        ...envFrom.flatMap(({ secretRef }: { secretRef: { name: string } }) => secretKeys(secretRef.name)),
      ];
      expect(names.filter((name) => !settingNames(program).includes(name))).toEqual([]);
      expect(podOf(program).securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
      expect(securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    },
  );

  test('probe control at routes that it has', () => {
    const routes = [
      ...readFileSync(join(root, 'control/deployment/health.ts'), 'utf8').matchAll(/url: '([^']+)'/g),
    ];
    const { livenessProbe, readinessProbe, startupProbe } = containerOf('control');
    const paths = [livenessProbe, readinessProbe, startupProbe].map((probe) => probe.httpGet.path);
    expect(paths).toEqual(['/health/live', '/health/ready', '/health/live']);
    for (const path of paths) expect(routes.map(([, url]) => url)).toContain(path);
  });

  test('name the ports of the settings, and probe and publish these', () => {
    expect(containerOf('control').ports).toEqual([
      { name: 'http', containerPort: Number(defaultOf('CONTROL_PORT')) },
    ]);
    const sips = Number(defaultOf('SIP_TLS_PORT'));
    expect(containerOf('edge').ports).toEqual([{ name: 'sips', containerPort: sips, hostPort: sips }]);
    expect(find('Service', 'trunkline-control').spec.ports[0]).toMatchObject({
      port: Number(defaultOf('CONTROL_PORT')),
    });
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(containerOf('edge')[probe].tcpSocket).toEqual({ port: 'sips' });
  });

  test('select the pods that they mean', () => {
    for (const program of programs) {
      const { selector, template } = find('StatefulSet', `trunkline-${program}`).spec;
      expect(selector.matchLabels).toEqual(template.metadata.labels);
      expect(find('Service', `trunkline-${program}`).spec.selector).toEqual(template.metadata.labels);
    }
    const budget = find('PodDisruptionBudget', 'trunkline-edge').spec;
    expect(budget).toEqual({ maxUnavailable: 1, selector: { matchLabels: { app: 'trunkline-edge' } } });
  });

  test('put each edge on a node of its own, in the network of the node', () => {
    const pod = podOf('edge');
    expect(pod.hostNetwork).toBe(true);
    const [rule] = pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    expect(rule).toEqual({
      labelSelector: { matchLabels: { app: 'trunkline-edge' } },
      topologyKey: 'kubernetes.io/hostname',
    });
  });

  test('drain an edge before it stops, by a command that exists, and give it the time', () => {
    const { lifecycle, env } = containerOf('edge');
    const [program, name, ...args]: string[] = lifecycle.preStop.exec.command;
    expect([program, name]).toEqual(['trunkline', 'drain']);
    const row = commandTable.find((one) => one.name === name);
    expect(row?.packages).toContain('edge');
    const used = args.filter((one) => one.startsWith('--')).map((one) => one.slice(2));
    expect(used.filter((option) => !row?.options.includes(option))).toEqual([]);
    const undo = /trunkline drain --undo/.exec(lifecycle.postStart.exec.command.join(' '));
    expect(undo).not.toBeNull();
    const wait = Number(args[args.indexOf('--wait') + 1]);
    const drain = Number(env.find((one: { name: string }) => one.name === 'DRAIN_TIMEOUT_S').value);
    expect(podOf('edge').terminationGracePeriodSeconds).toBeGreaterThan(wait + drain + 15);
  });

  test('refer only to secrets, keys and volumes that are there', () => {
    type Volume = { name: string; secret?: { secretName: string } };
    type Mount = { name: string; mountPath: string };
    for (const program of programs) {
      const { volumeClaimTemplates, template } = find('StatefulSet', `trunkline-${program}`).spec;
      const volumes: Volume[] = template.spec.volumes;
      const there = [...volumes, ...volumeClaimTemplates.map((one: { metadata: Volume }) => one.metadata)];
      const mounts: Mount[] = containerOf(program).volumeMounts;
      expect(mounts.map(({ name }) => name).sort()).toEqual(there.map(({ name }) => name).sort());
      for (const { secret } of volumes) if (secret) expect(secretKeys(secret.secretName)).not.toEqual([]);
    }
    for (const { valueFrom } of containerOf('edge').env)
      if (valueFrom?.secretKeyRef)
        expect(secretKeys(valueFrom.secretKeyRef.name)).toContain(valueFrom.secretKeyRef.key);
  });
});

describe('the units', () => {
  const isThere = spawnSync('systemd-analyze', ['--version']).status === 0;

  test.runIf(isThere).each(programs)('of %s: systemd calls what it leaves open "OK"', (program) => {
    const { stdout } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=yes', '--no-pager', join(deploy, `trunkline-${program}.service`)],
      { encoding: 'utf8' },
    );
    const [, level] = /Overall exposure level for \S+: ([\d.]+) (?:OK|SAFE)/.exec(stdout) ?? [];
    expect(Number(level)).toBeLessThan(2);
  });

  test.runIf(isThere).each(programs)('of %s: systemd knows every line', (program) => {
    const { stderr } = spawnSync(
      'systemd-analyze',
      ['verify', join(deploy, `trunkline-${program}.service`)],
      {
        encoding: 'utf8',
      },
    );
    const faults = stderr.split('\n').filter((line) => line !== '' && !line.includes('is not executable'));
    expect(faults).toEqual([]);
  });
});

test('every file of deploy/ is in the list of which is for whom', () => {
  const list = read('README.md');
  for (const name of readdirSync(deploy).filter((one) => one !== 'README.md')) expect(list).toContain(name);
});
