/** Port requests as the API shows them. */
import type { PortDetail, PortSummary } from '#shared/api/porting.ts';
import { type Db, fromJson } from '../db/index.ts';
import type { PortingDeps } from './deps.ts';
import { documentsOf } from './documents-store.ts';
import { expectedOf } from './moves.ts';
import { openColumn, openDetails, portContext } from './sealed-store.ts';
import type { NumberState } from './state-rules.ts';
import { findHistory, findNumbers, findNumbersOf, type PortRequest } from './store.ts';

export function signatureUrl({ config }: Pick<PortingDeps, 'config'>, token: string): string {
  return `${config.url.replace(/\/+$/, '')}/v1/sip/port/sign/${token}`;
}

function summaryView(services: PortingDeps, row: PortRequest, numbers: readonly NumberState[]): PortSummary {
  const details = openDetails(services.secrets, row);
  const token =
    row.status === 'waiting_for_signature' && row.token !== null
      ? services.secrets.open(row.token, portContext(row.id, 'token'))
      : null;
  return {
    id: row.id,
    status: row.status,
    phone_numbers: numbers.map(({ number, status }) => ({ number, status })),
    authorized_rep_email: details.authorized_representative_email,
    notification_emails: details.notification_emails,
    target_port_date: row.target_port_date,
    foc_date: row.foc_date,
    expected_completion: expectedOf(row, services.clock.now()),
    reason: row.reason,
    signature_url: token === null ? null : signatureUrl(services, token),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export async function summaryViews(
  services: PortingDeps,
  rows: readonly PortRequest[],
): Promise<PortSummary[]> {
  const numbers = await findNumbersOf(
    services.database.db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => summaryView(services, row, numbers.get(row.id) ?? []));
}

export async function detailView(services: PortingDeps, db: Db, row: PortRequest): Promise<PortDetail> {
  const history = await findHistory(db, row.id);
  return {
    ...summaryView(services, row, await findNumbers(db, row.id)),
    losing_carrier_information: openDetails(services.secrets, row),
    pin: row.pin === null ? null : '********',
    documents: (await documentsOf(db, row.id)).map(({ id }) => id),
    signed_at: row.signed_at,
    signed_name: openColumn(services.secrets, row, 'signed_name'),
    history: history.map(({ at, from_status, to_status, actor, reason, numbers }) => ({
      at,
      from_status,
      to_status,
      actor,
      reason,
      phone_numbers: fromJson(numbers),
    })),
  };
}
