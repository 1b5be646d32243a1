/**
 * What is in a package, as CycloneDX 1.6 (https://cyclonedx.org). Written from the lock file: `npm sbom` describes all
 * packages of the checkout, with those for its tests, and stamps time and chance into it.
 */
import { createHash } from 'node:crypto';
import type { Lock } from './dependencies.ts';
import type { Edition } from './man.ts';
import type { Plan } from './plan.ts';

export interface SbomOptions {
  readonly plan: Plan;
  readonly edition: Edition;
  readonly architecture: string;
  readonly lock: Lock;
  readonly dependencies: ReadonlyMap<string, readonly string[]>;
  /** Paths of the packages that the programs import themselves. */
  readonly direct: readonly string[];
  /** Node itself, and the worker of mediasoup where the package has it, by their SHA-256. */
  readonly binaries: readonly Binary[];
}

export interface Binary {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly sha256: string;
}

export function sbom(options: SbomOptions): string {
  const { plan, edition, architecture, dependencies, direct, binaries, lock } = options;
  const self = `pkg:deb/trunkline/${plan.name}@${edition.version}?arch=${architecture}`;
  const binaryRef = ({ name, version }: Binary) => `pkg:generic/${name}@${version}`;
  const refs = (paths: readonly string[]) => paths.map((path) => refOf(lock, path)).sort();
  const components = [
    ...binaries.map((one) => ({
      type: 'application',
      'bom-ref': binaryRef(one),
      name: one.name,
      version: one.version,
      hashes: [{ alg: 'SHA-256', content: one.sha256 }],
      licenses: [{ license: { name: one.licence } }],
      purl: binaryRef(one),
    })),
    ...[...dependencies.keys()].map((path) => component(lock, path)),
  ];
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(edition.epoch * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': self,
        name: plan.name,
        version: edition.version,
        purl: self,
      },
    },
    components,
    dependencies: [
      { ref: self, dependsOn: [...binaries.map(binaryRef), ...refs(direct)].sort() },
      ...[...dependencies].map(([path, needs]) => ({ ref: refOf(lock, path), dependsOn: refs(needs) })),
    ],
  };
  const { $schema, bomFormat, specVersion, ...rest } = document;
  return `${JSON.stringify({ $schema, bomFormat, specVersion, serialNumber: serialOf(rest), ...rest }, null, 2)}\n`;
}

function component(lock: Lock, path: string) {
  const { name, version, purl, license, integrity } = identity(lock, path);
  const [, alg, digest] = /^(sha512|sha256|sha1)-(.+)$/.exec(integrity ?? '') ?? [];
  const algorithm = { sha512: 'SHA-512', sha256: 'SHA-256', sha1: 'SHA-1' }[alg ?? ''];
  return {
    type: 'library',
    'bom-ref': refOf(lock, path),
    name,
    version,
    ...(algorithm !== undefined && {
      hashes: [{ alg: algorithm, content: Buffer.from(digest ?? '', 'base64').toString('hex') }],
    }),
    // An expression also where it is a single identifier.
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    purl,
  };
}

function identity(lock: Lock, path: string) {
  const entry = lock.packages[path];
  if (!entry) throw new Error(`package-lock.json has no ${path}`);
  const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const { version, license, integrity } = entry;
  return { name, version, license, integrity, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` };
}

/** One package may be there twice, at two paths. */
function refOf(lock: Lock, path: string): string {
  return `${identity(lock, path).purl}#${path}`;
}

/** A UUID of the content, in place of one by chance (RFC 9562, version 8). */
function serialOf(content: object): string {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
