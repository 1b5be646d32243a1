/** The report as one HTML page without scripts, fonts or images from elsewhere. Pure. */
import { amount, escaped, type Mark, plot } from './plot.ts';
import type { Report, SlopeLine } from './report.ts';
import type { Series } from './series.ts';

const style = `
  body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1180px; padding: 0 1rem; color: #1b1f24; background: #fff }
  h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #d0d7de; padding-bottom: .2rem }
  table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #e6e9ed; vertical-align: top }
  td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
  .flat { color: #1a7f37 } .growing { color: #7d5a00 } .leaking { color: #b3261e; font-weight: 600 } .too-short { color: #57606a }
  .plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(360px, 1fr)); gap: 1rem 1.2rem }
  figure { margin: 0 } figcaption { font-size: .9rem } svg { width: 100%; height: auto; font: 10px system-ui, sans-serif; fill: #57606a }
  .frame { fill: #f6f8fa; stroke: #d0d7de } .line { fill: none; stroke: #0550ae; stroke-width: 1.4 } .mark { stroke: #b3261e; stroke-dasharray: 2 3; opacity: .7 }
  pre { white-space: pre-wrap; font-size: .85rem; background: #f6f8fa; padding: .7rem } .verdict { font-size: 1.1rem; font-weight: 600 }
`;

export function page(report: Report, series: readonly Series[]): string {
  const marks = report.restarts.map(({ at, role, signal }) => ({ at, label: `${role} ${signal}` }));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Soak of ${escaped(report.begunAt)}</title><style>${style}</style></head><body>
<h1>Soak: ${(report.seconds / 3600).toFixed(2)} hours, seed ${report.options.seed}</h1>
<p class="verdict ${report.passed ? 'flat' : 'leaking'}">${report.passed ? 'Passed' : 'Failed'}; broken promises: ${report.broken.count}, leaks: ${report.slopes.filter(({ verdict }) => verdict === 'leaking').length}</p>
${facts(report)}
${brokenPromises(report)}
<h2>Slopes</h2>
<p>Median of all pairs of samples of one run of a process (Theil–Sen) after its warm-up. The vertical lines of the plots are restarts.</p>
${slopeTable(report.slopes)}
<h2>Calls and operations</h2>
${kindTable(report)}
<h2>Restarts</h2>
${restartTable(report)}
<h2>Plots</h2>
${plots(series, marks)}
<h2>Warnings and errors of the programs</h2>
${logTable(report)}
</body></html>
`;
}

function facts({ options, machine, begunAt, seconds, calls, operations, records, ...rest }: Report): string {
  const lines: readonly (readonly [string, string])[] = [
    ['begun', begunAt],
    ['machine', machine],
    [
      'load',
      `${(seconds / 60).toFixed(1)} minutes at ${options.rate} calls/s, control on ${options.database}`,
    ],
    [
      'calls',
      `${calls}, at most ${rest.mostAtATime} at a time; ${rest.skipped} not made, because that many were up`,
    ],
    ['operations over the API', String(operations)],
    [
      'call records',
      `${records.verified} verified one by one, ${records.allowedMissing} missing that may be, ${records.stored} stored in all`,
    ],
    ['network', rest.network],
    [
      'weather',
      Object.entries(rest.weather)
        .map(
          ([carrier, spells]) =>
            `${carrier}: ${Object.entries(spells)
              .map(([name, n]) => `${n} ${name}`)
              .join(', ')}`,
        )
        .join('; '),
    ],
    [
      'samples',
      `${rest.samples.taken}, ${rest.samples.incomplete} of them incomplete while a program restarted`,
    ],
  ];
  return `<table>${lines.map(([name, value]) => `<tr><th>${escaped(name)}</th><td>${escaped(value)}</td></tr>`).join('')}</table>`;
}

function brokenPromises({ broken }: Report): string {
  if (broken.count === 0) return '';
  return `<h2>Broken promises</h2><pre>${escaped(broken.shown.join('\n'))}</pre>`;
}

function slopeTable(slopes: readonly SlopeLine[]): string {
  const head =
    '<tr><th>of</th><th>what</th><th class="n">per 1,000 calls</th><th>verdict</th><th class="n">first</th><th class="n">last</th><th class="n">most</th><th class="n">runs</th><th class="n">samples</th></tr>';
  const rows = slopes.map((one) => {
    const verdict = one.bound === null ? one.verdict : `${one.verdict}: ${one.bound}`;
    const value = (n: number | null) => (n === null ? '' : amount(n, one.unit));
    return `<tr><td>${escaped(one.group)}</td><td>${escaped(one.name)}</td><td class="n">${value(one.per1000)}</td><td class="${one.verdict.replace(' ', '-')}">${escaped(verdict)}</td><td class="n">${value(one.first)}</td><td class="n">${value(one.last)}</td><td class="n">${value(one.most)}</td><td class="n">${one.segments}</td><td class="n">${one.settled}</td></tr>`;
  });
  return `<table>${head}${rows.join('')}</table>`;
}

function kindTable({ kinds }: Report): string {
  const head =
    '<tr><th>kind</th><th class="n">made</th><th class="n">as scripted</th><th class="n">failed by what the soak broke</th><th class="n">broken</th></tr>';
  const rows = Object.entries(kinds).map(
    ([kind, { made, passed, excused, broken }]) =>
      `<tr><td>${escaped(kind)}</td><td class="n">${made}</td><td class="n">${passed}</td><td class="n">${excused}</td><td class="n">${broken}</td></tr>`,
  );
  return `<table>${head}${rows.join('')}</table>`;
}

function restartTable({ restarts }: Report): string {
  const rows = restarts.map(
    ({ at, role, signal, backAfterMs }) =>
      `<tr><td class="n">${(at / 60_000).toFixed(1)}</td><td>${role}</td><td>${signal}</td><td class="n">${backAfterMs === null ? 'did not come back' : (backAfterMs / 1000).toFixed(1)}</td></tr>`,
  );
  return `<table><tr><th class="n">minute</th><th>program</th><th>signal</th><th class="n">ready again after, s</th></tr>${rows.join('')}</table>`;
}

function plots(series: readonly Series[], marks: readonly Mark[]): string {
  const figures = series
    .filter(({ samples }) => samples.length > 1)
    .map(
      ({ facts: { group, name, unit }, samples }) =>
        `<figure><figcaption>${escaped(group)}: ${escaped(name)}</figcaption>${plot(samples, unit, marks)}</figure>`,
    );
  return `<div class="plots">${figures.join('')}</div>`;
}

function logTable({ log }: Report): string {
  const shown = log.filter(({ level }) => level !== 'info');
  if (shown.length === 0) return '<p>None.</p>';
  const rows = shown.map(
    ({ level, program, message, times }) =>
      `<tr><td>${level}</td><td>${escaped(program)}</td><td>${escaped(message)}</td><td class="n">${times}</td></tr>`,
  );
  return `<table><tr><th>level</th><th>program</th><th>message</th><th class="n">times</th></tr>${rows.join('')}</table>`;
}
