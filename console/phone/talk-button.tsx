/** Calls an agent from where it is shown: of a number, a version of a pathway, or a persona. */
import { mayCall } from '../api/session.ts';
import { openPhone, type PhoneOrder } from '../parts/open-phone.ts';
import { texts } from '../text/texts.ts';

/** @param name of the agent */
export function TalkButton({ name, session: order }: PhoneOrder) {
  if (!mayCall.value) return null;
  return (
    <button type="button" aria-label={texts.talkTo(name)} onClick={() => openPhone({ name, session: order })}>
      {texts.talk}
    </button>
  );
}
