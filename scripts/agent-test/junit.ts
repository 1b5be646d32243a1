/** JUnit XML as CI systems read it: one suite, one test case per run; its class is the tested pathway or persona. */
import type { Batch, Run } from './api.ts';

/** @param subject name of the tested pathway or persona */
export function junit(batch: Batch, subject: string): string {
  const { completed_at, created_at, id, runs, version_number } = batch;
  const failures = runs.filter(({ status }) => status === 'FAILED').length;
  const errors = runs.filter(({ status }) => status !== 'FAILED' && status !== 'PASSED').length;
  const seconds = completed_at === null ? 0 : (Date.parse(completed_at) - Date.parse(created_at)) / 1000;
  const version = version_number === null ? '' : ` version ${version_number}`;
  const counts = `tests="${runs.length}" failures="${failures}" errors="${errors}" time="${seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="agent-test" ${counts}>`,
    `  <testsuite name="${escaped(`agent-test${version}`)}" ${counts} skipped="0" timestamp="${escaped(created_at)}">`,
    `    <properties><property name="batch_id" value="${escaped(id)}"/></properties>`,
    ...runs.flatMap((run, place) => testCase(run, caseName(runs, place), subject)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** The scenario, and which of its runs, if there are several. */
function caseName(runs: readonly Run[], place: number): string {
  const name = runs[place]?.scenario.name ?? '';
  const same = (run: Run) => run.scenario.name === name;
  if (runs.filter(same).length === 1) return name;
  return `${name} (run ${runs.slice(0, place + 1).filter(same).length})`;
}

function testCase(run: Run, name: string, subject: string): string[] {
  const { duration_ms, status } = run;
  const seconds = ((duration_ms ?? 0) / 1000).toFixed(3);
  const open = `    <testcase name="${escaped(name)}" classname="${escaped(subject)}" time="${seconds}"`;
  if (status === 'PASSED') return [`${open}/>`];
  const element = status === 'FAILED' ? 'failure' : 'error';
  const message = escaped(`${status}, score ${run.overall_score ?? 'none'}`);
  return [
    `${open}>`,
    `      <${element} type="${escaped(status)}" message="${message}">${escaped(explained(run))}</${element}>`,
    '    </testcase>',
  ];
}

/** What did not pass, with the actual conversation. */
function explained({ assertion_results, id, reason }: Run): string {
  const lines = assertion_results
    .filter(({ passed }) => !passed)
    .flatMap(({ evidence, is_required, name, reasoning, status, type }) => [
      `${status} ${is_required ? 'required' : 'optional'} ${type}${name === null ? '' : ` "${name}"`}: ${reasoning}`,
      ...evidence.map(({ quote, turn }) => `  line ${turn}: ${quote}`),
    ]);
  return [...(reason === undefined ? [] : [reason]), ...lines, `run ${id}`].join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Characters that XML 1.0 does not allow (section 2.2) become U+FFFD. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
