/** The page that loads the chat: its address, its data attributes (docs/widgets.md), and what is stored in it. */

export const maxLength = 4000;

/** null: nothing to start, because of a wrong URL (logged) or because the chat is in the page already. */
export const readPage = () => {
  const script = document.currentScript;
  const address = /^(.*)\/widget\/([0-9a-f-]{36})\/embed\.js(?:[?#].*)?$/.exec(script?.src ?? '');
  if (!address) {
    console.error('Chat: the script must be loaded by a script element, from …/widget/<id>/embed.js');
    return null;
  }
  const [, base, widgetId] = address;
  const hostId = `chat-${widgetId}`;
  if (document.getElementById(hostId)) return null;
  const given = script.dataset;
  const api = `${base}/v1/widget/${widgetId}`;
  return {
    script,
    base,
    given,
    api,
    hostId,
    texts: textsOf(given),
    memory: memoryAt(`chat:${base}:${widgetId}`),
  };
};

const textsOf = (given) => ({
  title: given.title || 'Chat',
  open: given.openLabel || 'Open chat',
  close: given.closeLabel || 'Close chat',
  placeholder: given.placeholder || 'Write a message…',
  send: given.sendLabel || 'Send',
  you: given.youLabel || 'You',
  agent: given.agentLabel || 'Assistant',
  writing: given.writingText || 'The assistant is writing…',
  handoff: given.handoffText || 'You are now talking to a person.',
  ended: given.endedText || 'This conversation has ended.',
  again: given.againLabel || 'Start a new conversation',
  failed: given.failedText || 'Your message was not answered.',
  retry: given.retryLabel || 'Try again',
  busy: given.busyText || 'Too many messages at once. Please wait a moment.',
  offline: given.offlineText || 'Connecting…',
  refused: given.refusedText || 'The chat is not available on this page.',
});

/** Storage forbidden to the page (private windows, sandboxed frames) is kept while the page is open. */
const memoryAt = (name) => ({
  kept: null,
  read() {
    try {
      return JSON.parse(localStorage.getItem(name) ?? 'null') ?? this.kept ?? {};
    } catch {
      return this.kept ?? {};
    }
  },
  write(change) {
    this.kept = { ...this.read(), ...change };
    try {
      localStorage.setItem(name, JSON.stringify(this.kept));
    } catch {
      // It is kept in memory.
    }
  },
});
