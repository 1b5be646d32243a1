/**
 * The call button. The phone itself is fetched when it is pressed. This file is in the script of widgets that take calls
 * only (embed-script.ts), and shows the button on pages that ask for it with `data-voice`.
 */
import { chat } from './chat.js';
import { make } from './panel.js';

/** Replaced by the path of the phone (console/visitor-phone). */
const phonePath = '@phone';

export const offerCalls = ({ page, elements, session, conversation }) => {
  const { base, given, texts } = page;
  if (given.voice === undefined || given.voice === 'false') return;
  const { root, launcher, closer, again, log, status, spoken, input } = elements;
  const button = make('button', {
    type: 'button',
    className: 'call',
    textContent: given.callLabel || 'Call',
  });
  const unavailable =
    given.callUnavailableText || 'Calls are not available at the moment. You can write here instead.';
  let phone = null;

  const credentials = async () => {
    const { token, thread_id } = await session.get();
    const answer = await session.ask('POST', `/threads/${thread_id}/call`, { token });
    const { data, errors } = await answer.json();
    if (answer.ok) return data.credentials;
    // The stream finds out, too, and gets another one.
    if (answer.status === 401) session.forget();
    throw Object.assign(new Error(errors[0].message), { code: errors[0].code });
  };

  button.addEventListener('click', async () => {
    // The next call is in a new conversation.
    if (conversation.ended) again.click();
    status.textContent = texts.offline;
    try {
      phone ??= import(`${base}${phonePath}`).then(({ createPhone }) =>
        createPhone({ make, given, root, launcher, log, status, spoken, input, credentials }),
      );
      const { open } = await phone;
      status.textContent = '';
      open();
    } catch {
      phone = null;
      status.textContent = unavailable;
    }
  });
  closer.before(button);
};

if (chat) offerCalls(chat);
