/** Every combination of the call log's filters, with values that most, few and no calls have. */
import { callNumbers, logBeginsAt, logEndsAt } from './call-log-rows.ts';

type Query = Readonly<Record<string, string>>;

const at = (share: number) => new Date(logBeginsAt + share * (logEndsAt - logBeginsAt)).toISOString();

const numbers: Query[] = [{}, ...Object.values(callNumbers).map((phone_number) => ({ phone_number }))];
const directions: Query[] = [{}, { direction: 'inbound' }, { direction: 'outbound' }];
const statuses: Query[] = [
  {},
  ...['completed', 'failed', 'in_progress', '200', '486', '600', '404'].map((status) => ({ status })),
];
const spans: Query[] = [
  {},
  { from_date: at(0.1) },
  { to_date: at(0.9) },
  { from_date: at(0.3), to_date: at(0.31) },
];

/** @param cursors ids of calls from which pages continue */
export function callLogQueries(cursors: readonly string[]): string[] {
  const pages: Query[] = [{}, ...cursors.map((before) => ({ before }))];
  const queries: string[] = [];
  for (const number of numbers)
    for (const direction of directions)
      for (const status of statuses)
        for (const span of spans)
          for (const page of pages) {
            const query = new URLSearchParams({ ...number, ...direction, ...status, ...span, ...page });
            queries.push(`/v1/sip/calls?${query}`);
          }
  return queries;
}
