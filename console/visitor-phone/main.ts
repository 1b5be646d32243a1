/**
 * The phone of a widget's visitor, on pages of other origins: what is seen of a call, and its buttons. A file of its own
 * (vite.config.ts), which the chat fetches when a visitor wants to call.
 */
import type { Chat } from './chat.ts';
import css from './phone.css?inline';
import { textsOf } from './texts.ts';
import { type CallState, VisitorCall } from './visitor-call.ts';

const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];

/** @returns opens the phone, or shows it when it is open */
export function createPhone(chat: Chat): { open: () => void } {
  const { make, root, launcher, log, status, spoken, input } = chat;
  const texts = textsOf(chat.given);
  let call: VisitorCall | null = null;
  let state: CallState = { at: 'consent' };
  let clock = 0;

  const button = (text: string, act: () => void, props: object = {}) => {
    const made = make('button', { type: 'button', textContent: text, ...props });
    made.addEventListener('click', act);
    return made;
  };
  const meter = (text: string) => {
    const level = make('meter', { min: 0, max: 1, value: 0 });
    return { level, label: make('label', {}, `${text} `, level) };
  };
  const sentence = make('p', { role: 'status' });
  const time = make('span', { role: 'timer', 'aria-live': 'off' });
  const [own, other] = [meter(texts.callOwnLevelLabel), meter(texts.callOtherLevelLabel)];
  const start = button(texts.callStartLabel, () => void call?.begin(), { className: 'main' });
  const mute = button(texts.callMuteLabel, () => {
    call?.mute(state.at === 'talking' && !state.muted);
  });
  const showKeys = button(texts.callKeysLabel, () => {
    keypad.hidden = !keypad.hidden;
    showKeys.setAttribute('aria-expanded', String(!keypad.hidden));
  });
  const keypad = make(
    'div',
    { className: 'keypad', role: 'group', 'aria-label': texts.callKeysLabel, hidden: true },
    ...keys.map((key) => button(key, () => call?.press(key))),
  );
  const hangUp = button(texts.callHangUpLabel, () => call?.hangUp(), { className: 'danger' });
  const again = button(texts.callLabel, () => open());
  const close = button(texts.callDeclineLabel, () => {
    card.hidden = true;
    input.focus();
  });
  const levels = make('div', { className: 'levels' }, own.label, other.label);
  const buttons = make('div', { className: 'buttons' }, start, mute, showKeys, hangUp, again, close);
  const card = make(
    'div',
    { className: 'phone', role: 'group', 'aria-label': texts.callLabel, hidden: true },
    make('div', { className: 'state' }, sentence, time),
    levels,
    buttons,
    keypad,
  );
  card.addEventListener('keydown', (event) => {
    if (state.at !== 'talking' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (keys.includes(event.key)) call?.press(event.key);
  });

  const sentenceOf = (now: CallState) => {
    switch (now.at) {
      case 'consent':
        return texts.callConsentText;
      case 'microphone':
        return texts.callMicrophoneText;
      case 'connecting':
        return texts.callConnectingText;
      case 'talking':
        if (now.broken) return texts.callBrokenText;
        return now.muted ? texts.callMutedText : texts.callTalkingText;
      case 'ended':
        return texts[now.why];
    }
  };

  const showTime = () => {
    if (state.at !== 'talking') return;
    const seconds = Math.max(0, Math.round((Date.now() - state.since) / 1000));
    time.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  };

  /** @param next gets the focus when that was in the phone, whose buttons change */
  const keepFocus = (next: HTMLElement) => {
    const focused = (root.getRootNode() as ShadowRoot).activeElement;
    if (focused && card.contains(focused) && (focused as HTMLElement).offsetParent === null) next.focus();
  };

  const show = (now: CallState) => {
    const before = state.at;
    state = now;
    const [consent, talking, ended] = [now.at === 'consent', now.at === 'talking', now.at === 'ended'];
    sentence.textContent = sentenceOf(now);
    for (const one of [mute, showKeys, time]) one.hidden = !talking;
    levels.hidden = consent || ended || now.at === 'microphone';
    start.hidden = !consent;
    hangUp.hidden = consent || ended;
    again.hidden = !ended;
    close.hidden = !consent && !ended;
    close.textContent = consent ? texts.callDeclineLabel : texts.callCloseLabel;
    mute.setAttribute('aria-pressed', String(now.at === 'talking' && now.muted));
    if (now.at !== before) {
      keypad.hidden = true;
      showKeys.setAttribute('aria-expanded', 'false');
      window.clearInterval(clock);
      showTime();
      if (talking) clock = window.setInterval(showTime, 1000);
      keepFocus(ended ? input : hangUp);
    }
    // It is heard already.
    spoken.setAttribute('aria-live', talking ? 'off' : 'polite');
    root.classList.toggle('in-call', talking);
    if (talking) launcher.setAttribute('aria-description', texts.callTalkingText);
    else launcher.removeAttribute('aria-description');
  };

  const open = () => {
    card.hidden = false;
    if (call?.running) {
      hangUp.focus();
      return;
    }
    const { credentials } = chat;
    call = new VisitorCall({
      show,
      credentials,
      levels: (now) => {
        own.level.value = now.own;
        other.level.value = now.other;
      },
    });
    if (state.at === 'consent') start.focus();
    else close.focus();
  };

  // The phone takes room from the messages, of which the newest stay in view.
  let atEnd = true;
  log.addEventListener('scroll', () => {
    atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  });
  new ResizeObserver(() => {
    if (atEnd) log.scrollTop = log.scrollHeight;
  }).observe(log);
  window.addEventListener('pagehide', () => call?.hangUp());
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  const shadow = root.getRootNode() as ShadowRoot;
  shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet];
  status.before(card);
  return { open };
}
