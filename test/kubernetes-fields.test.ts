/** The manifests of deploy/kubernetes have only fields that Kubernetes has, with values of their types. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'deploy', 'kubernetes');

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Those that the API server takes; a Kustomization is for kubectl alone. */
const resources: readonly Resource[] = readdirSync(folder)
  .flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), 'utf8')))
  .map((one) => one.toJS() as Resource)
  .filter(({ kind }) => kind !== 'Kustomization');

/** @returns what the compiler says of the resources as literals of their types: unknown fields, other types */
function faultsOf(all: readonly Resource[]): string {
  const work = mkdtempSync(join(tmpdir(), 'trunkline-kubernetes-'));
  try {
    const types = join(root, 'node_modules', 'kubernetes-types');
    const lines = all.map((resource, at) => {
      const group = resource.apiVersion.includes('/') ? resource.apiVersion : `core/${resource.apiVersion}`;
      const type = `import('${join(types, group)}').${resource.kind}`;
      return `export const one${at}: ${type} = ${JSON.stringify(resource, null, 1)};`;
    });
    writeFileSync(join(work, 'manifests.ts'), lines.join('\n'));
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    const options = ['--noEmit', '--strict', '--types', '', '--module', 'preserve', 'manifests.ts'];
    return spawnSync(tsc, options, { cwd: work, encoding: 'utf8' }).stdout;
  } finally {
    rmSync(work, { recursive: true });
  }
}

test('the manifests have only fields of Kubernetes', () => {
  expect(resources.length).toBeGreaterThan(6);
  expect(faultsOf(resources)).toBe('');
});

test('a field that Kubernetes does not have is found at any depth, and a value of another type', () => {
  const edge = JSON.stringify(resources.filter(({ kind }) => kind === 'StatefulSet'));
  const faults = faultsOf(
    JSON.parse(
      edge
        .replace('"hostNetwork":', '"hostNetwrk":')
        .replace('"periodSeconds":', '"periodSecond":')
        .replace(/"terminationGracePeriodSeconds":(\d+)/, '"terminationGracePeriodSeconds":"$1s"'),
    ),
  );
  expect(faults).toMatch(/"hostNetwrk"' does not exist in type 'PodSpec'/);
  expect(faults).toMatch(/"periodSecond"' does not exist in type 'Probe'/);
  expect(faults).toMatch(/'string' is not assignable to type 'number'/);
});
