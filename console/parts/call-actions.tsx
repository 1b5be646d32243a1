/** What can be done to a call that is in progress, wherever it is shown. */
import { texts } from '../text/texts.ts';
import type { LoggedCall } from './call-columns.tsx';
import { HangUp } from './hang-up.tsx';
import { Supervise } from './supervise.tsx';
import { Transfer } from './transfer.tsx';

/** The user part that supervisors call. */
const supervisors = 'supervise';

/** @param isRow in one line of a table */
export function CallActions({ call, isRow = false }: { call: LoggedCall; isRow?: boolean }) {
  const { id, answered_at, parent_id, to } = call;
  const name = texts.call.title(call.from, to);
  const isUp = answered_at !== null && !(parent_id !== null && to === supervisors);
  return (
    <div class="row actions">
      {isUp && <Supervise id={id} name={name} isRow={isRow} />}
      {isUp && parent_id === null && <Transfer id={id} name={name} />}
      <HangUp id={id} name={name} />
    </div>
  );
}
