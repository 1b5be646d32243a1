/** Limits of widgets: their visitors are anyone on the internet. */
export interface WidgetLimits {
  /** Sessions of visitors per minute and client address. */
  readonly sessionsPerMinute: number;
  /** Other requests with a token, per minute and client address. */
  readonly requestsPerMinute: number;
  /** Messages of a visitor per minute and thread. */
  readonly messagesPerMinute: number;
  /** Calls that visitors of one client address begin per minute. */
  readonly callsPerMinute: number;
  /** The same of all visitors of a widget. */
  readonly callsOfWidgetPerMinute: number;
  /** Calls of a widget that run or may still begin. */
  readonly mostCalls: number;
  /** Event streams that are open. */
  readonly perWidget: number;
  /** The same of visitors from one client address. */
  readonly perAddress: number;
  /** Characters of an unfinished answer that are buffered for a slow event stream. */
  readonly mostPending: number;
  /** Between heartbeats on a silent event stream; a stream that is not read for three times as long is closed. */
  readonly heartbeatMs: number;
  /** Messages after which a thread ends. */
  readonly mostMessages: number;
  /** Messages of one thread that are being answered or waiting. */
  readonly mostWaiting: number;
}

export const widgetLimits: WidgetLimits = {
  // An office behind one address opens a page this often; a script would open thousands.
  sessionsPerMinute: 30,
  // Several visitors behind one address, each with a request every few seconds.
  requestsPerMinute: 300,
  // Faster than anyone types.
  messagesPerMinute: 30,
  // Some calls fail and are tried again; each costs money.
  callsPerMinute: 6,
  callsOfWidgetPerMinute: 60,
  // Bounds what the visitors of one page can cost; raise it for a busier page.
  mostCalls: 20,
  // Each takes a socket; a program may open 1024 files on many systems.
  perWidget: 1000,
  // An office behind one address.
  perAddress: 20,
  // The longest answer of a model; after more, the reader gets the whole message at its end.
  mostPending: 65_536,
  // Proxies close connections that are silent for 30 to 60 s.
  heartbeatMs: 15_000,
  // A conversation has tens; the history of a longer one no longer fits a model.
  mostMessages: 1000,
  // The visitor has stopped reading the answers.
  mostWaiting: 10,
};
